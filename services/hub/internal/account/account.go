package account

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// ExportPeriod is the minimum time between two exports of an account, and the time for which an export can be downloaded.
const ExportPeriod = 24 * time.Hour

// MaxRows is the maximum number of rows that ListRows returns.
const MaxRows = 100

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
	"sessions", "devices", "following", "ended_follows", "watched_markets", "notifications", "notification_settings",
	"milestones", "wallets", "exports", "messages", "signing_keys", "apps", "connected_apps", "reports",
	"announced_broadcasts", "streamer", "overlay", "overlay_changes", "broadcasts", "clips", "streams", "stream_key",
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
	// CloseAccount revokes the signing keys, apps and grants of an account, and ends its streams with the events of a normal end.
	CloseAccount(ctx context.Context, user operator.ID, handle protocol.Handle, now time.Time) error
	// EraseAccount erases the personal data of an account. Broadcasts and clips get the handle replacement. Notifications of new
	// followers still count the others.
	EraseAccount(ctx context.Context, user operator.ID, handle, replacement protocol.Handle, now time.Time) error
}

// clockDifference is the time after which a cancellation cannot arrive, also if the clocks of the services differ.
const clockDifference = time.Minute

// Deletion closes and deletes accounts in the ledger and in the database of the hub.
type Deletion struct {
	Ledger operatorv1.OperatorServiceClient
	Reads  operatorv1.OperatorReadServiceClient
	Store  Store

	Notices notification.Notices
	Hide    func(ctx context.Context, handle protocol.Handle, hidden bool) error // hides the broadcasts and clips of a handle
	Now     func() time.Time
}

// Close closes an account for writes, revokes its API keys, signing keys and apps, and ends its webhooks and streams. It then notifies
// the user. A closed account stays closed, with the time of the first request. Errors: not_found, db_unavailable, and the errors of
// the ledger.
func (d Deletion) Close(ctx context.Context, user operator.ID, handle protocol.Handle) error {
	if err := d.Store.CloseAccount(ctx, user, handle, d.Now()); err != nil {
		return err // the account is open, so the form can be sent again
	}
	if _, err := d.Ledger.CloseAccount(ctx, &operatorv1.CloseAccountRequest{OperatorId: string(user)}); err != nil {
		return err
	}
	now := d.Now()
	if err := d.Store.CloseAccount(ctx, user, handle, now); err != nil { // revokes what was created in between
		return err
	}
	return d.Notices.Notify(ctx, user, notification.DeletionRequested, protocol.Stamp(now), "", now)
}

// Cancel opens a closed account again, for protocol.DeletionWait after it was closed, and deletes the notifications of its deletion.
// Errors: not_found, db_unavailable, and those of the ledger.
func (d Deletion) Cancel(ctx context.Context, user operator.ID) error {
	if _, err := d.Ledger.CloseAccount(ctx, &operatorv1.CloseAccountRequest{OperatorId: string(user), Open: true}); err != nil {
		return err
	}
	return d.Notices.DeleteKind(ctx, user, notification.DeletionRequested)
}

// Erase deletes the accounts that were closed protocol.DeletionWait ago and returns their number. An interrupted deletion is
// repeated, because the ledger is last. A deletion that fails does not stop the others. Errors: db_unavailable, and the errors of
// the ledger.
func (d Deletion) Erase(ctx context.Context) (int, error) {
	due, err := d.Reads.ListClosing(ctx, &operatorv1.ListClosingRequest{Before: timestamppb.New(d.Now().Add(-protocol.DeletionWait - clockDifference))})
	if err != nil {
		return 0, err
	}
	n, failed := 0, error(nil)
	for _, o := range due.GetOperators() {
		user, handle := operator.ID(o.GetId()), protocol.Handle(o.GetHandle())
		// Revokes what a concurrent request created while the account was being closed.
		err := d.Store.CloseAccount(ctx, user, handle, d.Now())
		if err == nil {
			err = d.Hide(ctx, handle, true)
		}
		if err == nil {
			err = d.Store.EraseAccount(ctx, user, handle, protocol.Handle("deleted_"+o.GetPublicId()[:12]), d.Now())
		}
		if err == nil {
			_, err = d.Ledger.EraseAccount(ctx, &operatorv1.EraseAccountRequest{OperatorId: o.GetId()})
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("delete account %s: %w", o.GetId(), err))
			continue
		}
		n++
	}
	return n, failed
}
