// Command hub serves the public HTTP API of Signalcast: sign-in, operator keys, calls, reads, live video and the HTML
// pages. See README.md for its settings.
package main

import "github.com/signalcast/signalcast/services/hub/internal/app"

func main() { app.Program().Exit() }
