// Command api is the ledger: operators, markets, signals, outcomes and the live
// feed. See README.md.
package main

import (
	"context"
	"log/slog"
	"os"

	"github.com/signalcast/signalcast/services/api/internal/app"
)

func main() {
	// What a library says by itself is a line like any other.
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	os.Exit(app.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
