// Package hosting speaks to hosts of video: Livepeer Studio and Mux. They take the video
// and serve it; we ask for a stream and a key, and say where viewers find it. Keys are
// theirs: they are shown once, like ours, and only a hash is kept.
package hosting
