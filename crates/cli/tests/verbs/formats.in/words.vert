She
drinks	VBZ
tea
.

Ah
!
