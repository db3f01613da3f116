// Command clock is the programme service: what is on the air and what comes
// next. See README.md.
package main

import "github.com/signalcast/signalcast/services/clock/internal/app"

func main() { app.Program().Exit() }
