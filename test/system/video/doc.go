// Package video tests broadcasts: the video origin and its clips, the studio, the live page, the overlay and the
// screen.
package video
