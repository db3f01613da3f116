package rows

import (
	"time"
)

const (
	abreast       = 4
	generous      = 5
	atLeast       = 200 * time.Millisecond
	recoverWithin = 12 * time.Second
)
