//go:build !purego

#include "textflag.h"

// func updateAVX2(w *Weights, in *Inputs, wrong int32)
//
// Products are of 64 bits: those of even inputs, then those of odd ones. Of each, rounded
// and shifted down by 27, only the lower 32 bits count.
TEXT ·updateAVX2(SB), NOSPLIT, $0-20
	MOVQ w+0(FP), AX
	MOVQ in+8(FP), BX
	MOVL wrong+16(FP), CX
	VMOVD CX, X0
	VPBROADCASTD X0, Y0
	VMOVDQU (BX), Y1
	VMOVDQU (AX), Y2
	VPCMPEQD Y4, Y4, Y4
	VPSRLD $31, Y4, Y5
	VPSLLD $22, Y5, Y5       // maxWeight
	VPSRLQ $63, Y4, Y4
	VPSLLQ $26, Y4, Y4       // half of 1<<27
	VPMULDQ Y0, Y1, Y3       // even
	VPSRLQ $32, Y1, Y1
	VPMULDQ Y0, Y1, Y1       // odd
	VPADDQ Y4, Y3, Y3
	VPADDQ Y4, Y1, Y1
	VPSRLQ $27, Y3, Y3
	VPSLLQ $5, Y1, Y1        // down by 27, up by 32
	VPBLENDD $0xAA, Y1, Y3, Y3
	VPADDD Y3, Y2, Y2
	VPMINSD Y5, Y2, Y2
	VPXOR Y6, Y6, Y6
	VPSUBD Y5, Y6, Y6
	VPMAXSD Y6, Y2, Y2
	VMOVDQU Y2, (AX)
	VZEROUPPER
	RET
