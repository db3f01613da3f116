// Command clock is the programme service: what is on the air and what comes
// next. See README.md.
package main

import (
	"context"
	"os"

	"github.com/signalcast/signalcast/services/clock/internal/app"
)

func main() {
	os.Exit(app.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
