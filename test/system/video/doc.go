// Package video tests broadcasts: the origin and its clips, the studio, the live page, the overlay and the screen.
package video
