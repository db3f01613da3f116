package main

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/deploy/local/internal/career"
)

// mostRefused is how many calls may be refused before the replay gives up.
const mostRefused = 50

// file has all operators call at the same time, each at its own pace.
func (r *replay) file(ctx context.Context) error {
	total := 0
	for _, list := range r.plan {
		total += len(list)
	}
	r.show.step("calls", total)
	r.filed = make([][]career.Filed, len(r.cast))
	places := make(chan struct{}, callers)
	var refused atomic.Int64
	err := each(ctx, len(r.cast), len(r.cast), func(ctx context.Context, i int) error {
		r.doors[i].pace = newPace()
		defer func() { r.doors[i].pace = nil }() // the other steps carry no key
		f := filer{replay: r, door: r.doors[i], operator: r.cast[i], key: r.keys[i], places: places}
		for _, c := range r.plan[i] {
			filed, err := f.call(ctx, c)
			if err != nil {
				return err
			}
			if r.filed[i] = append(r.filed[i], filed); filed.ID == "" && refused.Add(1) > mostRefused {
				return fmt.Errorf("too many calls were refused, such as: %s", r.faults.end()[0])
			}
			r.show.add(1)
		}
		return f.insist(ctx, r.filed[i])
	})
	if err == nil {
		r.show.end()
	}
	return err
}

// filer is one operator who calls.
type filer struct {
	*replay
	door     *door
	operator career.Operator
	key      string
	places   chan struct{}
}

// callBody is the body of POST /api/predictions.
type callBody struct {
	MarketID   string `json:"marketId"`
	Direction  string `json:"direction"`
	Price      int    `json:"priceAtPrediction"`
	Title      string `json:"marketTitle,omitempty"`
	Confidence int    `json:"confidence,omitempty"`
	Take       string `json:"textTake,omitempty"`
}

func (f filer) body(c career.Call) callBody {
	b := callBody{MarketID: f.markets[c.Question], Direction: string(c.Side), Price: c.Price, Confidence: c.Confidence, Take: c.Take}
	// Titles over the limit are left to the ledger, and so are every other operator's.
	if text := f.questions[c.Question].Text; f.operator.Index%2 == 0 && len(text) <= 300 {
		b.Title = text
	}
	return b
}

// send posts a call once a place is free; waiting for the own pace takes none.
func (f filer) send(ctx context.Context, a ask) (reply, error) {
	select {
	case f.places <- struct{}{}:
	case <-ctx.Done():
		return reply{}, ctx.Err()
	}
	defer func() { <-f.places }()
	return f.door.do(ctx, a)
}

// rest keeps the operator within its limit, without taking a place.
func (f filer) rest(ctx context.Context) error {
	d := f.door.pace.wait(time.Now())
	if d > time.Second {
		f.show.wait(1)
		defer f.show.wait(-1)
	}
	return sleep(ctx, d)
}

// call files one call. A refusal is a fault of the replay, not the end of it.
func (f filer) call(ctx context.Context, c career.Call) (career.Filed, error) {
	out := career.Filed{Want: career.Expect(c, f.questions[c.Question], f.tolerance), Who: f.who[c.Operator]}
	a := ask{method: http.MethodPost, url: f.stack.Hub + "/api/predictions", bearer: f.key, body: f.body(c)}
	if f.operator.Repeats {
		a.header = map[string]string{"Idempotency-Key": "career-" + f.markets[c.Question]}
	}
	if err := f.rest(ctx); err != nil {
		return out, err
	}
	r, err := f.send(ctx, a)
	if err != nil {
		return out, err
	}
	var got struct{ ID, Error string }
	switch {
	case r.status == http.StatusOK:
		err = r.into(http.StatusOK, &got)
	case r.status == http.StatusConflict && r.doubted:
		// The try that was in doubt had its effect: this is that call's id.
		if err = r.into(http.StatusConflict, &got); got.Error != "already_predicted" {
			got.ID = ""
		}
	}
	if err == nil && uuid.Validate(got.ID) != nil {
		err = fmt.Errorf("answered %d: %s", r.status, short(r.body))
	}
	if err != nil {
		f.faults.add(fmt.Sprintf("call of %s on market %s: %v", out.Who.Handle, f.markets[c.Question], err))
		return out, nil
	}
	out.ID = got.ID
	return out, f.take(ctx, &out)
}

// take appends a take to a call that is to have one. Appending is not
// idempotent, so after doubt the history tells whether it happened.
func (f filer) take(ctx context.Context, filed *career.Filed) error {
	if filed.Event == "" {
		return nil
	}
	url := f.stack.Hub + "/api/signals/" + filed.ID + "/events"
	body := map[string]any{"type": "take", "payload": map[string]string{"text": filed.Event}}
	for {
		r, err := f.door.do(ctx, ask{method: http.MethodPost, url: url, bearer: f.key, body: body, once: true})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			if err := r.into(http.StatusCreated, nil); err != nil {
				f.faults.add(fmt.Sprintf("take on %s: %v", filed.ID, err))
				filed.Event = ""
			}
			return nil
		}
		var history struct{ Events []struct{ Type string } }
		if err := f.door.get(ctx, url, &history); err != nil {
			return err
		}
		if len(history.Events) > 0 {
			return nil
		}
	}
}

// insist tries to change the first call, which is locked.
func (f filer) insist(ctx context.Context, filed []career.Filed) error {
	if !f.operator.Insists || len(filed) == 0 || filed[0].ID == "" {
		return nil
	}
	first := filed[0]
	b := f.body(first.Call)
	b.Direction, b.Price = string(first.Side.Other()), 10000-b.Price
	if err := f.rest(ctx); err != nil {
		return err
	}
	r, err := f.send(ctx, ask{method: http.MethodPost, url: f.stack.Hub + "/api/predictions", bearer: f.key, body: b})
	if err != nil {
		return err
	}
	var got struct{ ID, Error string }
	if err := r.into(http.StatusConflict, &got); err != nil || got.Error != "already_predicted" || got.ID != first.ID {
		f.faults.add(fmt.Sprintf("second call of %s on market %s: answered %d: %s, must be already_predicted with %s",
			first.Who.Handle, b.MarketID, r.status, short(r.body), first.ID))
	}
	return nil
}
