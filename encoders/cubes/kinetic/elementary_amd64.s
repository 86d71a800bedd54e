//go:build !purego

#include "textflag.h"

// The routines do the operations of the Go functions in the same order and fuse none, so the
// results are equal to the bit (FuzzVectors).

DATA bias<>+0(SB)/8, $1023 // bias of a float64's exponent
GLOBL bias<>(SB), RODATA|NOPTR, $8
DATA minus<>+0(SB)/8, $0x8000000000000000 // the sign bit
GLOBL minus<>(SB), RODATA|NOPTR, $8
DATA reach<>+0(SB)/8, $24.0 // logisticLimit
GLOBL reach<>(SB), RODATA|NOPTR, $8
DATA perOne<>+0(SB)/8, $32.0 // logisticSteps
GLOBL perOne<>(SB), RODATA|NOPTR, $8
DATA half<>+0(SB)/8, $0.5
GLOBL half<>(SB), RODATA|NOPTR, $8

// Four numbers at a time: x = k*ln2 + r; the series of e^r by Horner's scheme, then times 2^k.
// func expsAVX2(x *float64, groups int, constants *[14]float64)
TEXT ·expsAVX2(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), SI
	MOVQ groups+8(FP), CX
	MOVQ constants+16(FP), DX
	VBROADCASTSD 40(DX), Y7
	VBROADCASTSD 48(DX), Y8
	VBROADCASTSD 56(DX), Y9
	VBROADCASTSD 64(DX), Y10
	VBROADCASTSD 72(DX), Y11
	VBROADCASTSD 80(DX), Y12
	VBROADCASTSD 88(DX), Y13
	VBROADCASTSD 96(DX), Y14
	VBROADCASTSD 104(DX), Y15

group:
	VMOVUPD (SI), Y0
	VBROADCASTSD (DX), Y1    // 60
	VBROADCASTSD minus<>(SB), Y2
	VMINPD Y1, Y0, Y0
	VXORPD Y2, Y1, Y1
	VMAXPD Y1, Y0, Y0
	VBROADCASTSD 8(DX), Y1   // 1/ln2
	VMULPD Y1, Y0, Y2
	VBROADCASTSD 16(DX), Y1  // 1/2
	VADDPD Y1, Y2, Y2
	VROUNDPD $1, Y2, Y2      // down
	VBROADCASTSD 24(DX), Y1  // ln2
	VMULPD Y1, Y2, Y1
	VSUBPD Y1, Y0, Y1        // r
	VBROADCASTSD 32(DX), Y3  // 1/9!
	VMULPD Y1, Y3, Y3
	VADDPD Y7, Y3, Y3
	VMULPD Y1, Y3, Y3
	VADDPD Y8, Y3, Y3
	VMULPD Y1, Y3, Y3
	VADDPD Y9, Y3, Y3
	VMULPD Y1, Y3, Y3
	VADDPD Y10, Y3, Y3
	VMULPD Y1, Y3, Y3
	VADDPD Y11, Y3, Y3
	VMULPD Y1, Y3, Y3
	VADDPD Y12, Y3, Y3
	VMULPD Y1, Y3, Y3
	VADDPD Y13, Y3, Y3
	VMULPD Y1, Y3, Y3
	VADDPD Y14, Y3, Y3
	VMULPD Y1, Y3, Y3
	VADDPD Y15, Y3, Y3
	VCVTTPD2DQY Y2, X2
	VPMOVSXDQ X2, Y2
	VPBROADCASTQ bias<>(SB), Y0
	VPADDQ Y0, Y2, Y2
	VPSLLQ $52, Y2, Y2
	VMULPD Y2, Y3, Y3
	VMOVUPD Y3, (SI)
	ADDQ $32, SI
	DECQ CX
	JNZ group
	VZEROUPPER
	RET

// TABLE loads what TAIL needs: Y6 = limit, Y7 = -limit, Y8 = steps, R9 = address of the table.
#define TABLE \
	LEAQ ·logisticTable(SB), R9; \
	VBROADCASTSD reach<>(SB), Y6; \
	VBROADCASTSD minus<>(SB), Y7; \
	VXORPD Y6, Y7, Y7; \
	VBROADCASTSD perOne<>(SB), Y8

// TAIL replaces each number in Y0 by logisticTail of it. It overwrites Y1 to Y4, AX, BX, CX and DX.
#define TAIL \
	VMINPD Y6, Y0, Y0; \ // NaN becomes the limit
	VMAXPD Y7, Y0, Y0; \
	VADDPD Y6, Y0, Y0; \
	VMULPD Y8, Y0, Y0; \
	VCVTTPD2DQY Y0, X1; \
	VMOVQ X1, AX; \
	VPEXTRQ $1, X1, CX; \
	VCVTDQ2PD X1, Y1; \
	VSUBPD Y1, Y0, Y0; \
	MOVL AX, BX; \
	MOVL CX, DX; \
	SHRQ $32, AX; \
	SHRQ $32, CX; \
	VMOVUPD (R9)(BX*8), X1; \
	VMOVUPD (R9)(AX*8), X2; \
	VINSERTF128 $1, (R9)(DX*8), Y1, Y1; \
	VINSERTF128 $1, (R9)(CX*8), Y2, Y2; \
	VUNPCKLPD Y2, Y1, Y3; \
	VUNPCKHPD Y2, Y1, Y4; \
	VSUBPD Y4, Y3, Y4; \
	VMULPD Y4, Y0, Y0; \
	VSUBPD Y0, Y3, Y0

// func tailsAVX2(x *float64, groups int)
TEXT ·tailsAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), SI
	MOVQ groups+8(FP), R8
	TABLE

group:
	VMOVUPD (SI), Y0
	TAIL
	VMOVUPD Y0, (SI)
	ADDQ $32, SI
	DECQ R8
	JNZ group
	VZEROUPPER
	RET

// POINTS loads the four points at R11 into Y9, clears the sums in Y10, and sets Y11 to 0.5 and
// R10 to the number of components.
#define POINTS \
	TABLE; \
	VMOVSD (R11), X9; \ // single loads: the points were just stored one by one (store forwarding)
	VMOVHPD 8(R11), X9, X9; \
	VMOVSD 16(R11), X1; \
	VMOVHPD 24(R11), X1, X1; \
	VINSERTF128 $1, X1, Y9, Y9; \
	VXORPD Y10, Y10, Y10; \
	VBROADCASTSD half<>(SB), Y11; \
	MOVQ $5, R10

// ADD adds weight * tail(Y0 * invScale) of one component to Y10 and advances to the next one.
// Y0 holds the distances from the component's mean.
#define ADD \
	VBROADCASTSD (R8), Y1; \
	VMULPD Y1, Y0, Y0; \
	TAIL; \
	VBROADCASTSD (SI), Y1; \
	VMULPD Y1, Y0, Y0; \
	VADDPD Y0, Y10, Y10; \
	ADDQ $8, SI; \
	ADDQ $8, DI; \
	ADDQ $8, R8; \
	DECQ R10

// func aboveAVX2(sums *[4]float64, weight, mean, invScale *[components]float64, x *[4]float64)
TEXT ·aboveAVX2(SB), NOSPLIT, $0-40
	MOVQ weight+8(FP), SI
	MOVQ mean+16(FP), DI
	MOVQ invScale+24(FP), R8
	MOVQ x+32(FP), R11
	POINTS
	VADDPD Y11, Y9, Y9

component:
	VBROADCASTSD (DI), Y1
	VSUBPD Y1, Y9, Y0
	ADD
	JNZ component
	MOVQ sums+0(FP), AX
	VMOVUPD Y10, (AX)
	VZEROUPPER
	RET

// func belowAVX2(sums *[4]float64, weight, mean, invScale *[components]float64, x *[4]float64)
TEXT ·belowAVX2(SB), NOSPLIT, $0-40
	MOVQ weight+8(FP), SI
	MOVQ mean+16(FP), DI
	MOVQ invScale+24(FP), R8
	MOVQ x+32(FP), R11
	POINTS

component:
	VBROADCASTSD (DI), Y1
	VADDPD Y11, Y1, Y1
	VSUBPD Y9, Y1, Y0
	ADD
	JNZ component
	MOVQ sums+0(FP), AX
	VMOVUPD Y10, (AX)
	VZEROUPPER
	RET
