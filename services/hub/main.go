// Command hub is the front door: sessions, keys, calls, reads and pages. See
// README.md.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/signalcast/signalcast/services/hub/internal/app"
)

func main() {
	// What a library says by itself is a line like any other.
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	os.Exit(app.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
