package account

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// ExportPeriod is the minimum time between two exports of an account, and the time for which an export can be downloaded.
const ExportPeriod = 24 * time.Hour

// MaxRows is the maximum number of rows that ListRows returns.
const MaxRows = 1000

// Export is a request of a session for the data of its account. The data are read when they are downloaded.
type Export struct {
	ID        string
	Session   time.Time // second at which the session was issued
	CreatedAt time.Time
}

// Until returns the time up to which the export can be downloaded. The next export can then be requested.
func (e Export) Until() time.Time { return e.CreatedAt.Add(ExportPeriod) }

// Row is a stored row of an account, as a JSON object. Key is unique in a section of an account.
type Row struct{ Key, JSON string }

// Sections lists the sections of rows that the hub stores about an account.
var Sections = []string{
	"sessions", "devices", "following", "watched_markets", "notifications", "notification_settings", "milestones", "wallets", "exports",
	"messages", "signing_keys", "apps", "connected_apps", "reports", "announced_broadcasts", "streamer", "overlay", "overlay_changes",
	"broadcasts", "clips", "streams", "stream_key",
}

// Store stores exports and reads the rows of accounts. Error of all methods: db_unavailable.
type Store interface {
	// StartExport stores an export in place of the last one. It returns false and changes nothing if the last one is younger than
	// ExportPeriod.
	StartExport(ctx context.Context, user operator.ID, e Export) (bool, error)
	// LastExport returns the newest export of an account. It returns the zero value if there is none.
	LastExport(ctx context.Context, user operator.ID) (Export, error)
	// ListRows returns rows of a section of an account, in the order of their keys, after the key after, at most MaxRows.
	ListRows(ctx context.Context, user operator.ID, handle protocol.Handle, section, after string) ([]Row, error)
}
