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
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// Bounds of lengths in characters, and limits.
const (
	MaxReason     = 500
	MaxName       = 64 // of an administrator's name
	MaxListed     = 500
	ReportsPerDay = 10
)

// Kinds with data in the database of the hub. The ledger stores the decisions about all kinds except App.
const (
	App     = "app"
	Profile = "profile" // its streams, clips and overlays are in the database of the hub
)

// Kinds lists the kinds of things whose text can be hidden.
var Kinds = []string{"signal", "event", Profile, "market", "station", App}

// Errors of decisions and reports.
var (
	ErrNotFound = apperr.New(apperr.NotFound, "not_found", "no content of this kind has this id")
	ErrReports  = apperr.New(apperr.Limited, "rate_limited", "limit of 10 reports a day reached").With("limit", ReportsPerDay)
)

// Decision is the newest decision of an administrator about the text of a thing.
type Decision struct {
	Kind   string
	ID     string // id; the handle of a profile
	Hidden bool
	Reason string
	By     string // name of the administrator
	At     time.Time
}

// Report is a report of an operator about a thing.
type Report struct {
	ID       string
	Reporter operator.ID
	Kind     string
	Thing    string // id of the reported thing
	Reason   string
	At       time.Time
}

// Store stores decisions about applications, and reports. Errors: ErrNotFound, db_unavailable.
type Store interface {
	// Decide stores a decision about an application.
	Decide(ctx context.Context, d Decision) (Decision, error)
	// Find returns ErrNotFound if there is no application with the id.
	Find(ctx context.Context, id string) error
	// List returns at most limit decisions, newest first.
	List(ctx context.Context, limit int) ([]Decision, error)
	// AddReport stores a report and returns true, unless its reporter has filed limit reports after since.
	AddReport(ctx context.Context, r Report, since time.Time, limit int) (bool, error)
}

// Service hides texts and media and stores reports.
type Service struct {
	ledger moderationv1.ModerationServiceClient
	store  Store
	air    *livestream.Service
	newID  func() string
	now    func() time.Time
}

// NewService returns a Service. store holds the decisions about applications, the ledger all others. Hiding a profile
// also ends and hides its live sessions in air.
func NewService(
	ledger moderationv1.ModerationServiceClient, store Store, air *livestream.Service, newID func() string, now func() time.Time,
) *Service {
	return &Service{ledger: ledger, store: store, air: air, newID: newID, now: now}
}

// Decide hides or shows the text of a thing. After db_unavailable the decision may be stored but not applied to live
// sessions; repeating it applies it. Errors: ErrNotFound, db_unavailable.
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
	return d, err
}

func decisionOf(d *moderationv1.Decision) Decision {
	return Decision{
		Kind: d.GetKind(), ID: d.GetId(), Hidden: d.GetHidden(), Reason: d.GetReason(), By: d.GetBy(), At: ledgerclient.Time(d.GetAt()),
	}
}

// List returns the newest decisions, at most MaxListed. Error: db_unavailable.
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

// Report stores a report. An operator can file ReportsPerDay in 24 hours. Errors: ErrNotFound, ErrReports,
// db_unavailable.
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

// find returns an error if there is no such thing.
func (s *Service) find(ctx context.Context, kind, id string) error {
	if kind == App {
		return s.store.Find(ctx, id)
	}
	_, err := s.ledger.Find(ctx, &moderationv1.FindRequest{Kind: kind, Id: id})
	return err
}
