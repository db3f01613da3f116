// Package video checks broadcasts: the video origin with its clips, and the studio, live, overlay and screen pages.
package video
