package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	operatorv1 "github.com/signalcast/signalcast/proto/operator/v1"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Codes of the errors of the ledger for a handle that cannot be used.
const (
	HandleTaken   = "handle_taken"   // it is reserved, or another operator has or had it
	HandleChanged = "handle_changed" // the last change was less than protocol.HandlePeriod ago
	HandleChosen  = "handle_chosen"  // the first handle can no longer be chosen
)

// ErrLive is the error of a change of the handle during a broadcast.
var ErrLive = apperr.New(apperr.Conflict, "live", "the handle cannot be changed during a broadcast; end the broadcast first")

// HandleStore stores changes of handles. Error of all methods: db_unavailable.
type HandleStore interface {
	// StartHandleChange stores that the handle of an operator may change.
	StartHandleChange(ctx context.Context, user operator.ID, handle protocol.Handle, now time.Time) error
	// ListHandleChanges returns changes that were started before a time and may be incomplete.
	ListHandleChanges(ctx context.Context, before time.Time) ([]HandleChange, error)
	// MoveHandle moves what is stored under the former handle of an operator, and ends the change. A repetition changes nothing.
	MoveHandle(ctx context.Context, c HandleChange, wanted protocol.Handle, now time.Time) error
	// MovePicture replaces the address of the picture of an operator. It changes nothing if the picture has another address than
	// former.
	MovePicture(ctx context.Context, user operator.ID, former, wanted string) error
}

// HandleChange is a change of the handle of an operator. Former is the handle before it.
type HandleChange struct {
	User   operator.ID
	Former protocol.Handle
}

// Handles changes handles in the ledger, and moves what the hub stores under them.
type Handles struct {
	Ledger operatorv1.OperatorServiceClient
	People operator.Directory
	Store  HandleStore
	// IsLive reports whether an operator broadcasts.
	IsLive func(ctx context.Context, handle protocol.Handle) (bool, error)
	// Picture returns the avatarUrl of an operator with an uploaded picture, without its query.
	Picture func(handle protocol.Handle) string
	// UpdateProfile changes a profile. signedInAt is the time of a sign-in that only some changes need.
	UpdateProfile func(ctx context.Context, user operator.ID, signedInAt time.Time, p operator.Profile) error
	Now           func() time.Time
	Log           *slog.Logger
}

// settleAfter is the time after which a change is no longer in progress.
const settleAfter = time.Minute

// Change replaces the handle of an operator, in upper or lower case. If first is true, it stores the choice of the first handle;
// an empty handle keeps the derived one. If the ledger has changed the handle and the data of the hub cannot be moved, Change
// only logs the error, and Settle moves them. Errors: invalid_handle, ErrLive, and those of the ledger with the codes
// HandleTaken, HandleChanged and HandleChosen.
func (h Handles) Change(ctx context.Context, c HandleChange, wanted string, first bool) error {
	to := c.Former
	if wanted != "" || !first {
		var err error
		if to, err = protocol.ParseHandle(wanted); err != nil {
			return err
		}
	}
	if to != c.Former {
		live, err := h.IsLive(ctx, c.Former)
		if err == nil && live {
			err = ErrLive
		}
		if err == nil {
			err = h.Store.StartHandleChange(ctx, c.User, c.Former, h.Now())
		}
		if err != nil {
			return err
		}
	}
	q := &operatorv1.ChangeHandleRequest{OperatorId: string(c.User), Handle: string(to), First: first}
	_, err := h.Ledger.ChangeHandle(ctx, q)
	if err != nil || to == c.Former {
		return err // Settle ends the change, because the ledger may have stored it
	}
	o, err := h.People.ByID(ctx, c.User)
	if err == nil {
		err = h.move(ctx, c, o.AvatarURL, to)
	}
	if err != nil {
		h.Log.WarnContext(ctx, "moving the data of a handle failed", "operator", c.User, "error", err)
	}
	return nil
}

// Settle completes interrupted changes. A change that fails does not stop the others. Errors: db_unavailable, and the errors of
// the ledger.
func (h Handles) Settle(ctx context.Context) error {
	list, err := h.Store.ListHandleChanges(ctx, h.Now().Add(-settleAfter))
	if err != nil {
		return err
	}
	var failed error
	for _, c := range list {
		o, err := h.People.ByID(ctx, c.User)
		if o.Handle.IsDeleted() {
			o.Handle = c.Former // the account was erased with its former handles
		}
		if err == nil {
			err = h.move(ctx, c, o.AvatarURL, o.Handle)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("change handle of %s: %w", c.User, err))
		}
	}
	return failed
}

// move moves what the hub stores under the former handle of an operator. The address of an uploaded picture has the handle, so
// move replaces it too: another operator may get the former handle.
func (h Handles) move(ctx context.Context, c HandleChange, avatarURL string, to protocol.Handle) error {
	address, query, _ := strings.Cut(avatarURL, "?")
	if address == h.Picture(c.Former) && c.Former != to {
		wanted := h.Picture(to)
		if query != "" {
			wanted += "?" + query
		}
		if err := h.Store.MovePicture(ctx, c.User, avatarURL, wanted); err != nil {
			return err
		}
		avatar := operator.Profile{Avatar: operator.Change{Given: true, Text: &wanted}, OwnPicture: true}
		if err := h.UpdateProfile(ctx, c.User, time.Time{}, avatar); err != nil {
			return err
		}
	}
	return h.Store.MoveHandle(ctx, c, to, h.Now())
}
