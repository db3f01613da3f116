package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/prove/stack"
)

const (
	abreast       = 4
	generous      = 5
	atLeast       = 200 * time.Millisecond
	recoverWithin = 12 * time.Second
)
