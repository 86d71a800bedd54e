//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// A Vec is the first three of four numbers in a register. The fourth is whatever follows
// it in memory; it is computed along and never used.

// func solveRowsAVX2(rows *row, n int, motion *motion)
TEXT ·solveRowsAVX2(SB), NOSPLIT, $0-24
	MOVQ rows+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ motion+16(FP), DX
	VXORPD X15, X15, X15

rows:
	MOVLQSX row_a(SI), AX
	MOVLQSX row_b(SI), BX
	SHLQ $6, AX                      // motion__size
	SHLQ $6, BX
	VMOVUPD motion_vel(DX)(AX*1), Y0
	VMOVUPD motion_spin(DX)(AX*1), Y1
	VMOVUPD motion_vel(DX)(BX*1), Y2
	VMOVUPD motion_spin(DX)(BX*1), Y3
	VSUBPD Y2, Y0, Y7
	VMULPD row_twistA(SI), Y1, Y8    // the terms of turnA
	VMULPD row_twistB(SI), Y3, Y9    // of turnB
	VMULPD row_dir(SI), Y7, Y7       // of along
	VUNPCKLPD Y9, Y8, Y10
	VUNPCKHPD Y9, Y8, Y11
	VEXTRACTF128 $1, Y10, X12
	VADDPD X11, X10, X10
	VADDPD X12, X10, X10             // turnA, turnB
	VUNPCKHPD X10, X10, X11
	VSUBSD X11, X10, X10
	VEXTRACTF128 $1, Y7, X12
	VUNPCKHPD X7, X7, X11
	VADDSD X11, X7, X7
	VADDSD X12, X7, X7               // along
	VADDSD X10, X7, X10              // along + (turnA - turnB)
	VMULSD row_impulseState+impulseState_gain(SI), X10, X10
	VMOVSD row_impulseState+impulseState_impulse(SI), X12
	VMULSD row_impulseState+impulseState_keep(SI), X12, X13
	VADDSD row_bias(SI), X13, X13
	VSUBSD X10, X13, X13
	VMOVSD row_low(SI), X14
	VMAXSD X13, X14, X13
	VMOVSD row_high(SI), X14
	VMINSD X13, X14, X13
	VMOVSD X13, row_impulseState+impulseState_impulse(SI)
	VSUBSD X12, X13, X13
	VBROADCASTSD X13, Y14            // d
	VMULPD row_dir(SI), Y14, Y7
	VMULPD row_twistA(SI), Y14, Y8
	VADDPD Y7, Y0, Y0
	VADDPD Y8, Y1, Y1
	VMOVUPD Y0, motion_vel(DX)(AX*1)
	VMOVUPD Y1, motion_spin(DX)(AX*1)
	VMOVSD row_share(SI), X11
	VUCOMISD X15, X11
	JE next
	VMULSD X11, X13, X13
	VBROADCASTSD X13, Y14            // d times share
	VMULPD row_dir(SI), Y14, Y7
	VMULPD row_twistB(SI), Y14, Y8
	VSUBPD Y7, Y2, Y2
	VSUBPD Y8, Y3, Y3
	VMOVUPD Y2, motion_vel(DX)(BX*1)
	VMOVUPD Y3, motion_spin(DX)(BX*1)

next:
	ADDQ $row__size, SI
	DECQ CX
	JNZ rows
	VZEROUPPER
	RET

// Contacts with the floor, in SI; the body is in AX. Y4 is arm x direction with its
// signs: a spin gains it times d, where the plain code adds one product and subtracts
// another. The parts of speed and spin that have no share in it are blended back, for
// x + 0 is not x if that is -0.

// A sign, wherever it is wanted: from the first on it is the third of four numbers.
DATA signs<>+0(SB)/8, $0
DATA signs<>+8(SB)/8, $0
DATA signs<>+16(SB)/8, $0x8000000000000000
DATA signs<>+24(SB)/8, $0
DATA signs<>+32(SB)/8, $0
DATA signs<>+40(SB)/8, $0
GLOBL signs<>(SB), RODATA|NOPTR, $48

#define BEGIN(SIGN) \
	MOVQ floor+0(FP), SI \
	MOVQ n+8(FP), CX \
	MOVQ motion+16(FP), DX \
	VMOVUPD signs<>+8*SIGN(SB), Y15 \
	VXORPD X14, X14, X14

// X5: the speed along the I-th axis. What it takes is read from memory once more, one
// number each: sooner there than out of the middle of a register.
#define LOAD(ORDER, I, P, R) \
	MOVLQSX floorContact_slot(SI), AX \
	SHLQ $6, AX \
	VMOVSD floorContact_arm+8*R(SI), X5 \
	VMOVSD floorContact_arm+8*P(SI), X6 \
	VMULSD motion_spin+8*P(DX)(AX*1), X5, X5 \
	VMULSD motion_spin+8*R(DX)(AX*1), X6, X6 \
	VSUBSD X6, X5, X5 \
	VADDSD motion_vel+8*I(DX)(AX*1), X5, X5 \
	VMOVUPD motion_vel(DX)(AX*1), Y0 \
	VMOVUPD motion_spin(DX)(AX*1), Y1 \
	VPERMPD $ORDER, floorContact_arm(SI), Y4 \
	VXORPD Y15, Y4, Y4

// X9: what is kept of the impulse; X5: what the speed in it takes away.
#define KEEP(STATE) \
	VMULSD STATE+impulseState_gain(SI), X5, X5 \
	VMOVSD STATE+impulseState_impulse(SI), X8 \
	VMULSD STATE+impulseState_keep(SI), X8, X9

// From the new impulse in X9: the new speed and spin.
#define STORE(STATE, PART, PARTS) \
	VMOVSD X9, STATE+impulseState_impulse(SI) \
	VSUBSD X8, X9, X9 \
	VBROADCASTSD X9, Y9 \
	VADDPD Y9, Y0, Y6 \
	VMULPD Y9, Y4, Y7 \
	VADDPD Y7, Y1, Y7 \
	VBLENDPD $PART, Y6, Y0, Y0 \
	VBLENDPD $PARTS, Y7, Y1, Y1 \
	VMOVUPD Y0, motion_vel(DX)(AX*1) \
	VMOVUPD Y1, motion_spin(DX)(AX*1) \
	ADDQ $floorContact__size, SI \
	DECQ CX

// func solveFloorXAVX2(floor *floorContact, n int, motion *motion)
TEXT ·solveFloorXAVX2(SB), NOSPLIT, $0-24
	BEGIN(0)

x:
	LOAD(0xD8, 0, 1, 2)              // any, arm.Z, -arm.Y
	KEEP(floorContact_x)
	VSUBSD X5, X9, X9
	STORE(floorContact_x, 1, 6)
	JNZ x
	VZEROUPPER
	RET

// func solveFloorYAVX2(floor *floorContact, n int, motion *motion)
TEXT ·solveFloorYAVX2(SB), NOSPLIT, $0-24
	BEGIN(2)

y:
	LOAD(0xC6, 1, 2, 0)              // -arm.Z, any, arm.X
	KEEP(floorContact_y)
	VSUBSD X5, X9, X9
	STORE(floorContact_y, 2, 5)
	JNZ y
	VZEROUPPER
	RET

// func solveFloorZAVX2(floor *floorContact, n int, motion *motion)
TEXT ·solveFloorZAVX2(SB), NOSPLIT, $0-24
	BEGIN(1)

z:
	LOAD(0xE1, 2, 0, 1)              // arm.Y, -arm.X, any
	KEEP(floorContact_z)
	VADDSD floorContact_bias(SI), X9, X9
	VSUBSD X5, X9, X9
	VMAXSD X9, X14, X9               // not below zero
	STORE(floorContact_z, 4, 3)
	JNZ z
	VZEROUPPER
	RET
