// Command hub is the front door: sessions, keys, calls, reads and pages. See
// README.md.
package main

import (
	"context"
	"os"

	"github.com/signalcast/signalcast/services/hub/internal/app"
)

func main() {
	os.Exit(app.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
