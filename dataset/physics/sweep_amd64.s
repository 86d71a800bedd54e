//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// A Vec is the first three of four numbers in a register. The fourth is whatever follows
// it in memory; it is computed along and never used.

// func solveRowsAVX(rows *row, n int, motion *motion)
TEXT ·solveRowsAVX(SB), NOSPLIT, $0-24
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
	VBROADCASTSD X13, Y14            // change
	VMULPD row_dir(SI), Y14, Y7
	VMULPD row_twistA(SI), Y14, Y8
	VADDPD Y7, Y0, Y0
	VADDPD Y8, Y1, Y1
	VMOVUPD Y0, motion_vel(DX)(AX*1)
	VMOVUPD Y1, motion_spin(DX)(AX*1)
	VMOVSD row_massRatio(SI), X11
	VUCOMISD X15, X11
	JE next
	VMULSD X11, X13, X13
	VBROADCASTSD X13, Y14            // change times massRatio
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
