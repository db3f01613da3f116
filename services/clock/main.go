// Command clock serves the programme: the markets that air now and the markets that air next. See README.md.
package main

import "github.com/signalcast/signalcast/services/clock/internal/app"

func main() { app.Program().Exit() }
