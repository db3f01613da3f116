package app

import (
	"context"
	"time"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/board"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/oracle/categorise"
	"github.com/signalcast/signalcast/services/api/internal/postgres"
	"github.com/signalcast/signalcast/services/api/internal/record"
)

// readers are what reads one operator.
type readers struct {
	*record.Service
	operators *operator.Service
}

// Operator implements edge.Records.
func (r readers) Operator(ctx context.Context, handle, id string) (operator.Operator, error) {
	return r.operators.Operator(ctx, handle, id)
}

// ranks reads records, and tells the boards how long ranks took: behind many results both
// read what is not folded yet.
type ranks struct {
	*postgres.Store
	boards *board.Service
	now    func() time.Time
}

// ReadRecord implements record.Store.
func (r ranks) ReadRecord(ctx context.Context, userID string, recent, moments int, month time.Time) (record.Record, error) {
	begun := r.now()
	defer func() { r.boards.Took(r.now().Sub(begun)) }()
	return r.Store.ReadRecord(ctx, userID, recent, moments, month)
}

// ListRanked implements record.Store.
func (r ranks) ListRanked(ctx context.Context, limit int, month time.Time) ([]record.Ranked, error) {
	begun := r.now()
	defer func() { r.boards.Took(r.now().Sub(begun)) }()
	return r.Store.ListRanked(ctx, limit, month)
}

// words place a question by what it says.
type words struct{}

// Classify implements lane.Words.
func (words) Classify(title string) lane.Place {
	r := categorise.Classify(title, nil)
	return lane.Place{Lane: r.Lane, Category: r.Category, Confidence: r.Confidence, Method: lane.Method(r.Method)}
}

// Category implements lane.Words.
func (words) Category(to syntax.Lane, title string) string {
	return categorise.Category(to, title, nil)
}
