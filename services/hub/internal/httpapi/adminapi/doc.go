// Package adminapi serves administrators and the scheduler: markets, resolutions, operator classes, pins, programme, moderation
// and the daily digest. Each of their actions is recorded in the audit log before it runs.
//
// All routes require the admin or cron secret, except reports, which any operator can file. Start with admin.go.
package adminapi
