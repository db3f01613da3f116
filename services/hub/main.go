// Command hub is the front door: sessions, keys, calls, reads and pages. See
// README.md.
package main

import "github.com/signalcast/signalcast/services/hub/internal/app"

func main() { app.Program().Exit() }
