// Package adminapi serves administrators and the scheduler: markets, resolutions, classes of operators, pins, the programme,
// moderation and the daily digest. Each act is recorded before it is done.
//
// It takes no other credentials, except for reports. Start with admin.go.
package adminapi
