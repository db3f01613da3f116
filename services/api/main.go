// Command api is the ledger: operators, markets, signals, outcomes and the live
// feed. See README.md.
package main

import (
	"context"
	"os"

	"github.com/signalcast/signalcast/services/api/internal/app"
)

func main() {
	os.Exit(app.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
