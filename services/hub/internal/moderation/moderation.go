package moderation

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/ledgerclient"
	"github.com/signalcast/signalcast/pkg/protocol"
	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
	"github.com/signalcast/signalcast/services/hub/internal/livestream"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Limits of texts in characters, of the list of decisions, and of reports.
const (
	MaxReason     = 500
	MaxName       = 64 // name of an administrator
	MaxListed     = 500
	ReportsPerDay = 10
)

// Kinds of moderated objects that have data in the database of the hub. The ledger stores the decisions about all kinds except
// App.
const (
	App     = "app"
	Profile = "profile" // the hub stores its streams, clips and overlays
)

// Kinds lists the kinds of objects whose text can be hidden.
var Kinds = []string{"signal", "event", Profile, "market", "station", App}

// Errors of decisions and of reports.
var (
	ErrNotFound = apperr.New(apperr.NotFound, "not_found", "no content of this kind has this id; check kind and id")
	ErrReports  = apperr.New(apperr.Limited, "rate_limited",
		"limit of 10 reports a day reached; retry after the time in retryAfterMs").With("limit", ReportsPerDay)
)

// Decision is the newest decision of an administrator about the text of an object.
type Decision struct {
	Kind   string
	ID     string // id of the object; for a profile, the handle
	Hidden bool
	Reason string
	By     string // name of the administrator
	At     time.Time
}

// Report is a report by an operator about an object.
type Report struct {
	ID       string
	Reporter operator.ID
	Kind     string
	Thing    string // id of the reported object
	Reason   string
	At       time.Time
}

// Store stores decisions about apps, and reports. Errors: ErrNotFound for an unknown app, db_unavailable.
type Store interface {
	// Decide stores a decision about an app.
	Decide(ctx context.Context, d Decision) (Decision, error)
	// Find returns nil if there is an app with this id, else ErrNotFound.
	Find(ctx context.Context, id string) error
	// List returns the newest decisions about apps, newest first, at most limit.
	List(ctx context.Context, limit int) ([]Decision, error)
	// AddReport stores a report and returns true. If its reporter has already filed limit reports after since, it stores nothing
	// and returns false.
	AddReport(ctx context.Context, r Report, since time.Time, limit int) (bool, error)
}

// Service hides and shows texts and media, and stores reports.
type Service struct {
	ledger moderationv1.ModerationServiceClient
	store  Store
	air    *livestream.Service
	notify notification.Notices
	newID  func() string
	now    func() time.Time
}

// NewService returns a Service. The store contains the decisions about apps, and the ledger contains all other decisions. A
// decision that hides a profile also hides its streams and clips through air. The author of a hidden text is notified.
func NewService(
	ledger moderationv1.ModerationServiceClient, store Store, air *livestream.Service, notify notification.Notices,
	newID func() string, now func() time.Time,
) *Service {
	return &Service{ledger: ledger, store: store, air: air, notify: notify, newID: newID, now: now}
}

// Decide hides or shows the text of an object. After db_unavailable, the decision may be stored but not applied to live sessions
// and notifications; a repeated call applies it. Errors: ErrNotFound, db_unavailable.
func (s *Service) Decide(ctx context.Context, d Decision) (Decision, error) {
	d.At = s.now().UTC().Truncate(time.Millisecond)
	if d.Kind == App {
		return s.store.Decide(ctx, d)
	}
	r, err := s.ledger.Decide(ctx, &moderationv1.DecideRequest{Decision: &moderationv1.Decision{
		Kind: d.Kind, Id: d.ID, Hidden: d.Hidden, Reason: d.Reason, By: d.By,
	}})
	if err != nil {
		return Decision{}, err
	}
	d = decisionOf(r.GetDecision())
	if d.Kind == Profile {
		err = s.air.Hide(ctx, protocol.Handle(d.ID), d.Hidden)
	}
	if author := operator.ID(r.GetOperatorId()); err == nil && d.Hidden && author != "" {
		err = s.withdraw(ctx, d, author, r.GetSignalId())
	}
	return d, err
}

// withdraw deletes the unread notifications about a hidden text and notifies its author.
func (s *Service) withdraw(ctx context.Context, d Decision, author operator.ID, signalID string) error {
	if d.Kind == Profile || signalID != "" {
		if err := s.notify.Withdraw(ctx, author, signalID); err != nil {
			return err
		}
	}
	return s.notify.Notify(ctx, author, notification.TextHidden, d.Kind+" "+d.ID+" "+notification.Day(d.At), d.Reason, d.At)
}

func decisionOf(d *moderationv1.Decision) Decision {
	return Decision{
		Kind: d.GetKind(), ID: d.GetId(), Hidden: d.GetHidden(), Reason: d.GetReason(), By: d.GetBy(), At: ledgerclient.Time(d.GetAt()),
	}
}

// List returns the newest decisions about all kinds, newest first, at most MaxListed. Error: db_unavailable.
func (s *Service) List(ctx context.Context) ([]Decision, error) {
	r, err := s.ledger.List(ctx, &moderationv1.ListRequest{Limit: MaxListed})
	if err != nil {
		return nil, err
	}
	list, err := s.store.List(ctx, MaxListed)
	if err != nil {
		return nil, err
	}
	for _, d := range r.GetDecisions() {
		list = append(list, decisionOf(d))
	}
	slices.SortStableFunc(list, func(a, b Decision) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return list[:min(len(list), MaxListed)], nil
}

// Report stores a report. An operator can file ReportsPerDay reports in 24 hours. Errors: ErrNotFound if the object does not
// exist, ErrReports, db_unavailable.
func (s *Service) Report(ctx context.Context, r Report) error {
	if err := s.find(ctx, r.Kind, r.Thing); err != nil {
		return err
	}
	const day = 24 * time.Hour
	r.ID, r.At = s.newID(), s.now().UTC().Truncate(time.Millisecond)
	ok, err := s.store.AddReport(ctx, r, r.At.Add(-day), ReportsPerDay)
	if err == nil && !ok {
		err = apperr.Of(ErrReports).With("retryAfterMs", day.Milliseconds())
	}
	return err
}

// find returns ErrNotFound if there is no object of this kind with this id.
func (s *Service) find(ctx context.Context, kind, id string) error {
	if kind == App {
		return s.store.Find(ctx, id)
	}
	_, err := s.ledger.Find(ctx, &moderationv1.FindRequest{Kind: kind, Id: id})
	return err
}
