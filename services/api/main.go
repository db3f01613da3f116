// Command api runs the service api, which stores operators, markets, calls and outcomes, and serves the live feed.
package main

import "github.com/signalcast/signalcast/services/api/internal/app"

func main() { app.Program().Exit() }
