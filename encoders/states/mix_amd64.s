//go:build !purego

#include "textflag.h"

// func learnAVX2(of *[lanes]int16, in *[lanes]int32, groups int, wrong int32, chance uint32)
//
// Products are of 64 bits: those of even inputs, then those of odd ones. Of each, rounded and
// shifted down by 30, only the lower 32 bits count.
TEXT ·learnAVX2(SB), NOSPLIT, $0-32
	MOVQ of+0(FP), DI
	MOVQ in+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVL wrong+24(FP), AX
	MOVL chance+28(FP), BX
	VMOVD AX, X0
	VPBROADCASTD X0, Y0
	VMOVQ BX, X1
	VPBROADCASTQ X1, Y1

group:
	VMOVDQU (SI), Y2
	VPMULDQ Y0, Y2, Y3
	VPSRLQ $32, Y2, Y2
	VPMULDQ Y0, Y2, Y2
	VPADDQ Y1, Y3, Y3
	VPADDQ Y1, Y2, Y2
	VPSRLQ $30, Y3, Y3
	VPSLLQ $2, Y2, Y2        // down by 30, up by 32
	VPBLENDD $0xAA, Y2, Y3, Y3
	VPMOVSXWD (DI), Y2
	VPADDD Y3, Y2, Y2
	VEXTRACTI128 $1, Y2, X3
	VPACKSSDW X3, X2, X2
	VMOVDQU X2, (DI)
	ADDQ $32, SI
	ADDQ $16, DI
	DECQ CX
	JNZ group
	VZEROUPPER
	RET
