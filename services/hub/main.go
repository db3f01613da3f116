// Command hub serves the public HTTP API of Signalcast and its HTML pages: sign-in, operator keys, calls, markets and live video.
// See README.md for its settings.
package main

import "github.com/signalcast/signalcast/services/hub/internal/app"

func main() { app.Program().Exit() }
