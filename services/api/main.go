// Command api is the ledger: operators, markets, signals, outcomes and the live
// feed. See README.md.
package main

import "github.com/signalcast/signalcast/services/api/internal/app"

func main() { app.Program().Exit() }
