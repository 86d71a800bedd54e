//go:build !purego

#include "textflag.h"

// func sumAVX2(sums, bias, shift *int32, weights, x *int16, pairs, groups int)
//
// It computes two groups of sixteen outputs at a time while at least two are left, so that each
// pair of inputs is read once for both.
TEXT ·sumAVX2(SB), NOSPLIT, $0-56
	MOVQ sums+0(FP), DI
	MOVQ bias+8(FP), AX
	MOVQ shift+16(FP), BX
	MOVQ weights+24(FP), SI
	MOVQ x+32(FP), R8
	MOVQ pairs+40(FP), R9
	MOVQ groups+48(FP), R10
	MOVQ R9, R11
	SHLQ $6, R11       // bytes of a group's weights

two:
	CMPQ R10, $2
	JLT one
	VMOVDQU (AX), Y0   // the sums
	VMOVDQU 32(AX), Y1
	VMOVDQU 64(AX), Y2
	VMOVDQU 96(AX), Y3
	LEAQ (SI)(R11*1), R12
	MOVQ R8, DX
	MOVQ R9, CX

twoPairs:
	VPBROADCASTD (DX), Y4
	VPMADDWD (SI), Y4, Y5
	VPMADDWD 32(SI), Y4, Y6
	VPMADDWD (R12), Y4, Y7
	VPMADDWD 32(R12), Y4, Y8
	VPADDD Y5, Y0, Y0
	VPADDD Y6, Y1, Y1
	VPADDD Y7, Y2, Y2
	VPADDD Y8, Y3, Y3
	ADDQ $4, DX
	ADDQ $64, SI
	ADDQ $64, R12
	DECQ CX
	JNZ twoPairs
	VMOVDQU (BX), Y4
	VMOVDQU 32(BX), Y5
	VMOVDQU 64(BX), Y6
	VMOVDQU 96(BX), Y7
	VPSRAVD Y4, Y0, Y0
	VPSRAVD Y5, Y1, Y1
	VPSRAVD Y6, Y2, Y2
	VPSRAVD Y7, Y3, Y3
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	VMOVDQU Y2, 64(DI)
	VMOVDQU Y3, 96(DI)
	ADDQ R11, SI       // skip the second group's weights
	ADDQ $128, AX
	ADDQ $128, BX
	ADDQ $128, DI
	SUBQ $2, R10
	JMP two

one:
	TESTQ R10, R10
	JZ done
	VMOVDQU (AX), Y0
	VMOVDQU 32(AX), Y1

onePairs:
	VPBROADCASTD (R8), Y4
	VPMADDWD (SI), Y4, Y5
	VPMADDWD 32(SI), Y4, Y6
	VPADDD Y5, Y0, Y0
	VPADDD Y6, Y1, Y1
	ADDQ $4, R8
	ADDQ $64, SI
	DECQ R9
	JNZ onePairs
	VMOVDQU (BX), Y4
	VMOVDQU 32(BX), Y5
	VPSRAVD Y4, Y0, Y0
	VPSRAVD Y5, Y1, Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)

done:
	VZEROUPPER
	RET

// func narrowAVX2(dst *int16, src *int32, groups int, limit, slope int32)
//
// The slope is at most 1, so a positive value times the slope is at most the value, and a negative
// one at least the value: the maximum of both is the result of the leaky ReLU.
TEXT ·narrowAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVL limit+24(FP), AX
	MOVL slope+28(FP), BX
	VMOVD AX, X6
	VMOVD BX, X7
	VPBROADCASTD X6, Y6
	VPBROADCASTD X7, Y7
	VPXOR Y5, Y5, Y5
	VPSUBD Y6, Y5, Y5  // -limit

values:
	VPMINSD (SI), Y6, Y0
	VPMINSD 32(SI), Y6, Y1
	VPMAXSD Y5, Y0, Y0
	VPMAXSD Y5, Y1, Y1
	VPMULLD Y7, Y0, Y2
	VPMULLD Y7, Y1, Y3
	VPSRAD $7, Y2, Y2  // slopeBits
	VPSRAD $7, Y3, Y3
	VPMAXSD Y2, Y0, Y0
	VPMAXSD Y3, Y1, Y1
	VPACKSSDW Y1, Y0, Y0
	VPERMQ $0xD8, Y0, Y0 // VPACKSSDW packs each 128-bit half separately
	VMOVDQU Y0, (DI)
	ADDQ $64, SI
	ADDQ $32, DI
	DECQ CX
	JNZ values
	VZEROUPPER
	RET
