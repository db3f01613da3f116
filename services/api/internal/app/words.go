package app

import (
	"context"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/api/internal/lane"
	"github.com/signalcast/signalcast/services/api/internal/operator"
	"github.com/signalcast/signalcast/services/api/internal/oracle/categorise"
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
