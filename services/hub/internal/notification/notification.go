package notification

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Kind is the kind of an entry.
type Kind string

// Kinds of entries.
const (
	CallResolved         Kind = "call_resolved" // a call of the user was won or lost
	CallVoid             Kind = "call_void"     // a call of the user is void
	MarketDisputed       Kind = "market_disputed"
	MarketDisputeCleared Kind = "market_dispute_cleared"
	MarketCloses         Kind = "market_closes" // within CloseNotice; Fact.Key is the market
	Followed             Kind = "followed"      // an operator followed the user
	ForecasterCalled     Kind = "forecaster_called"
	ForecasterLive       Kind = "forecaster_live" // Fact.Reason has the id of the broadcast
	ForecasterTake       Kind = "forecaster_take"
	Milestone            Kind = "milestone"       // Count has the number of calls of the user
	SkillConfirmed       Kind = "skill_confirmed" // the calls of the user show skill for the first time
)

// Kinds of entries about the account of the user, which cannot be switched off. Fact.Key identifies the fact and Fact.Reason has
// a text for the user, such as the label of a key. A new kind needs a text in the pages and in the OpenAPI document.
const (
	KeyAdded         Kind = "key_added"
	AppAdded         Kind = "app_added" // an app may act for the user
	SignerAdded      Kind = "signer_added"
	NewDevice        Kind = "new_device"
	PayoutChanged    Kind = "payout_changed"
	TextHidden       Kind = "text_hidden"
	StreamerApproved Kind = "streamer_approved"
	StreamerRefused  Kind = "streamer_refused"

	WebhookDeactivated Kind = "webhook_deactivated" // Fact.Reason has its host
	ExportReady        Kind = "export_ready"
	DeletionRequested  Kind = "deletion_requested"
)

// Mailed lists the kinds that are also sent at once to a confirmed e-mail address.
var Mailed = []Kind{
	KeyAdded, AppAdded, SignerAdded, NewDevice, PayoutChanged, TextHidden, StreamerApproved, StreamerRefused,
	WebhookDeactivated, ExportReady, DeletionRequested,
}

// Grouped lists the kinds whose facts of one day, and of one followed forecaster, are one entry.
var Grouped = []Kind{Followed, ForecasterCalled, ForecasterLive, ForecasterTake}

// OfForecasters lists the kinds of entries about followed forecasters.
var OfForecasters = []Kind{ForecasterCalled, ForecasterLive, ForecasterTake}

// Switch is a setting with which a user switches kinds of entries on or off.
type Switch struct {
	Name, Label string
	Kinds       []Kind
}

// OffByDefault lists the kinds that are off unless the user switches them on. All others are on unless the user switches them off.
var OffByDefault = []Kind{MarketCloses}

// Switches lists the settings of a user.
var Switches = []Switch{
	{"calls", "My calls resolve or become void", []Kind{CallResolved, CallVoid}},
	{"markets", "Disputes on markets that I called or watch", []Kind{MarketDisputed, MarketDisputeCleared}},
	{"closing", "Markets that I called or watch close within 24 hours", []Kind{MarketCloses}},
	{"followers", "New followers", []Kind{Followed}},
	{"forecasters", "Calls, takes and live broadcasts of forecasters that I follow", OfForecasters},
	{"milestones", "Milestones of my record", []Kind{Milestone, SkillConfirmed}},
}

// Retention is the age at which entries are deleted.
const Retention = 90 * 24 * time.Hour

// CloseNotice is the time before the end of a market from which on users are notified of it.
const CloseNotice = 24 * time.Hour

// MaxUnread is the number up to which unread entries are counted.
const MaxUnread = 100

// ErrUnknown is the error of a request for an entry that does not exist.
var ErrUnknown = apperr.New(apperr.NotFound, "not_found", "there is no notification with this id")

// Fact is an event that users are notified of.
type Fact struct {
	Kind     Kind
	Actor    operator.ID     // operator who acted; empty: none
	Handle   protocol.Handle // handle of Actor
	MarketID protocol.MarketID
	SignalID string
	Status   string // result of a call; empty: none
	Score    int32  // points of the call, valid with Status; 0 for a call that is not counted
	Reason   string // why the call is void; of a fact about the account, a text for the user; of ForecasterLive, the broadcast
	Count    int64
	Seq      int64  // number of the event
	Key      string // identifies a fact that is no event, among those of its kind
	At       time.Time

	To       operator.ID // the only recipient; empty: the recipients are Audience
	Audience Audience
}

// Audience names the recipients of a fact.
type Audience string

// Audiences of facts.
const (
	Followers Audience = "followers" // of Fact.Actor
	Callers   Audience = "callers"   // operators with a call on Fact.MarketID
	Watchers  Audience = "watchers"  // users who watch Fact.MarketID
)

// Subject identifies the entry that the fact belongs to, among the entries of its kind.
func (f *Fact) Subject() string {
	switch {
	case f.Kind == Milestone:
		return strconv.FormatInt(f.Count, 10)
	case f.Kind == Followed:
		return Day(f.At)
	case slices.Contains(Grouped, f.Kind):
		return string(f.Actor) + " " + Day(f.At)
	}
	return cmp.Or(f.Key, strconv.FormatInt(f.Seq, 10))
}

// Day returns the UTC date of a time, which is part of the subjects of grouped entries.
func Day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// Fanout is a fact whose recipients are notified in batches. After is the last notified user.
type Fanout struct {
	Fact
	After operator.ID
}

// Entry is a notification of a user.
type Entry struct {
	ID        string // UUIDv7
	Kind      Kind
	Actor     operator.ID // operator who acted last; empty: none
	Handle    protocol.Handle
	MarketID  protocol.MarketID
	SignalID  string
	Status    string
	Score     *int32
	Reason    string
	Count     int64
	Seq       int64
	CreatedAt time.Time // time of the newest fact
	ReadAt    time.Time // zero: unread
}

// Place is the position of an entry in the list of a user. The zero value is the start.
type Place struct {
	Seq int64
	ID  string
}

// Store stores the entries and switches of users. Error of all methods: db_unavailable.
type Store interface {
	Notices
	// ListNotifications returns entries of a user, the newest first, after the place after.
	ListNotifications(ctx context.Context, user operator.ID, after Place, limit int) ([]Entry, error)
	// CountUnread counts the unread entries of a user, up to MaxUnread.
	CountUnread(ctx context.Context, user operator.ID) (int64, error)
	// MarkRead marks an entry and all older ones as read. Error: ErrUnknown.
	MarkRead(ctx context.Context, user operator.ID, id string, at time.Time) error
	// SwitchedOff returns the kinds that a user has switched off.
	SwitchedOff(ctx context.Context, user operator.ID) (map[Kind]bool, error)
	// SetSwitches switches kinds on or off. A kind that is switched on starts at the time at.
	SetSwitches(ctx context.Context, user operator.ID, to map[Kind]bool, at time.Time) error
}

// Notices notifies users of facts that are no events of the ledger. Error of both methods: db_unavailable.
type Notices interface {
	// Notify adds an entry about the account of a user. The entry of a repeated key does not change.
	Notify(ctx context.Context, user operator.ID, kind Kind, key, text string, at time.Time) error
	// DeleteKind deletes the entries of a kind about the account of a user.
	DeleteKind(ctx context.Context, user operator.ID, kind Kind) error
	// Withdraw deletes the unread entries of all users about what an operator did, or about one call of the operator. Without a
	// call, it also removes the name of the operator from the unread entries of new followers.
	Withdraw(ctx context.Context, actor operator.ID, signalID string) error
}

// ListPage returns a page of the entries of a user, the newest first, and the cursor of the next page; an empty cursor: the page is
// the last. An empty or invalid cursor starts at the first page. Error: db_unavailable.
func ListPage(ctx context.Context, store Store, user operator.ID, cursor string, limit int) ([]Entry, string, error) {
	var after Place
	if at, ok := protocol.DecodeCursor(cursor, 1); ok {
		seq, known := at.Int(0)
		if known && uuid.Validate(at.ID) == nil && len(at.ID) == 36 {
			after = Place{Seq: seq, ID: at.ID}
		}
	}
	list, err := store.ListNotifications(ctx, user, after, limit+1)
	if err != nil || len(list) <= limit {
		return list, "", err
	}
	last := list[limit-1]
	return list[:limit], protocol.NewCursor(last.ID, protocol.IntKey(last.Seq)).Encode(), nil
}
