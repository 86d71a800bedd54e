//go:build !purego

#include "textflag.h"

// func nearestAVX2(lengths *uint8, places *[maxPlace]int32, count int, movers *lanes, groups int)
//
// Squares are of the lower halves of words, and less than 1<<62.
TEXT ·nearestAVX2(SB), NOSPLIT, $0-40
	MOVQ lengths+0(FP), DI
	MOVQ places+8(FP), SI
	MOVQ count+16(FP), CX
	MOVQ movers+24(FP), DX
	MOVQ groups+32(FP), R8
	MOVQ $-1, R9
	VPCMPEQD Y7, Y7, Y7
	VPSRLQ $1, Y7, Y7        // more than any square

place:
	VPBROADCASTD (SI), Y0
	VPBROADCASTD 4(SI), Y1
	VPBROADCASTD 8(SI), Y2
	VMOVDQA Y7, Y3           // the least so far
	MOVQ DX, BX
	MOVQ R8, R10

group:
	VPSUBD (BX), Y0, Y4
	VPSUBD 32(BX), Y1, Y5
	VPSUBD 64(BX), Y2, Y6
	VPMULDQ Y4, Y4, Y4
	VPMULDQ Y5, Y5, Y5
	VPMULDQ Y6, Y6, Y6
	VPADDQ Y5, Y4, Y4
	VPADDQ Y6, Y4, Y4
	VPCMPGTQ Y4, Y3, Y5      // where it is less
	VPBLENDVB Y5, Y4, Y3, Y3
	ADDQ $96, BX
	DECQ R10
	JNZ group

	VEXTRACTI128 $1, Y3, X4
	VPCMPGTQ X4, X3, X5
	VPBLENDVB X5, X4, X3, X3
	VPSHUFD $0x4E, X3, X4
	VPCMPGTQ X4, X3, X5
	VPBLENDVB X5, X4, X3, X3
	VMOVQ X3, AX
	BSRQ AX, AX
	CMOVQEQ R9, AX
	INCQ AX
	MOVB AX, (DI)
	INCQ DI
	ADDQ $12, SI
	DECQ CX
	JNZ place
	VZEROUPPER
	RET
