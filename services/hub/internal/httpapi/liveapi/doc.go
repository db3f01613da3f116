// Package liveapi serves live operators and the programme: heartbeats, overlays, streams, clips, recaps, and what is on the air.
//
// Rules of sessions are in hub/livestream, those of the programme in hub/broadcast. Start with live.go.
package liveapi
