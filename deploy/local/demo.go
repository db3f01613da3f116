package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"
)

// demoCmd is up with a past and a present: a career is played and checked, then
// a few bots go on calling what is open, until Ctrl-C.
type demoCmd struct {
	upCmd     `embed:""`
	Questions int `default:"120" help:"Length of the invented past."`
	Operators int `default:"60" help:"How many operators called in it; at least 10."`
	// The default is a seed whose luck is even: in so short a past, skill shows
	// only where no streak of luck hides it.
	Seed uint64 `default:"246" help:"Decides who calls what."`
}

// Run stays as up does; the story is told beside it.
func (c *demoCmd) Run(ctx context.Context) error {
	past := replayCmd{Seed: c.Seed, Operators: c.Operators, Questions: c.Questions, Tolerance: ownTolerance(), Rows: 16}
	if err := past.checkFlags(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := make(chan error, 1)
	go func() {
		err := c.story(ctx, &past, os.Stdout)
		if ctx.Err() != nil {
			err = nil // asked to stop
		}
		if err != nil {
			say("the story broke off, the stack stays: %v", err)
		}
		told <- err
	}()
	err := c.upCmd.Run(ctx)
	cancel()
	return errors.Join(err, <-told)
}

// story waits for the stack, gives it a past and keeps it going.
func (c *demoCmd) story(ctx context.Context, past *replayCmd, out *os.File) error {
	s, err := c.ours(ctx)
	if err != nil {
		return err
	}
	d := newDoor(streetDoor, &meets{})
	defer d.close()
	decided, err := bestDecided(ctx, d, s)
	if err != nil {
		return err
	}
	if decided == "" {
		say("\ngiving it a past")
		questions, err := past.career(out)
		if err != nil {
			return err
		}
		if err := past.drive(ctx, s, questions, out); err != nil {
			return err
		}
		if decided, err = bestDecided(ctx, d, s); err != nil {
			return err
		}
	}
	street, err := openStreet(ctx, s)
	if err != nil {
		return err
	}
	defer street.close()
	call, err := street.begin(ctx)
	if err != nil {
		return err
	}
	if err := lookHere(out, s, decided, call); err != nil {
		return err
	}
	return street.run(ctx)
}

// ours waits until the stack that this process starts is there.
func (c *demoCmd) ours(ctx context.Context) (stack, error) {
	for {
		s, err := readStack(c.Dir)
		if err == nil && s.PIDs["up"] == os.Getpid() {
			return s, sleep(ctx, greetFirst)
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return s, err
		}
	}
}

// greetFirst lets up say that it is ready before the story goes on.
const greetFirst = 300 * time.Millisecond

// bestDecided finds the decided call with the best score among the newest of
// the feed; empty when nothing is decided yet.
func bestDecided(ctx context.Context, d *door, s stack) (string, error) {
	var feed struct {
		Items []struct {
			Data struct {
				SignalID string
				Score    int
			}
		}
	}
	if err := d.get(ctx, s.API+"/api/v1/feed?types=signal.resolved&limit=200", &feed); err != nil {
		return "", err
	}
	id, best := "", 0
	for _, item := range feed.Items {
		if item.Data.SignalID != "" && (id == "" || item.Data.Score > best) {
			id, best = item.Data.SignalID, item.Data.Score
		}
	}
	return id, nil
}

// lookHere tells a newcomer what there is to see.
func lookHere(out io.Writer, s stack, decided string, open opened) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintf(w, "\nlook here\n\n")
	show := func(what, where string) { _, _ = fmt.Fprintf(w, "  %s\t%s\n", what, where) }
	show("the front page", s.Hub+"/")
	if decided != "" {
		show("a call that was decided", s.Hub+"/receipts/"+decided)
	}
	if open.id != "" {
		show("a call that is open", s.Hub+"/receipts/"+open.id)
		show("the market it is on", s.Hub+"/m/"+open.market)
	}
	show("who calls best", s.API+"/api/v1/signals/leaderboard?operators=all")
	show("the broadcast board", s.Hub+"/api/operator/leaderboard")
	show("the newest calls", s.Hub+"/api/signals/feed")
	show("open calls, priced now", s.Hub+"/api/signals/feed?type=open")
	show("everything that happens", s.API+"/api/v1/feed")
	show("what is on the air", s.Clock+"/program/now")
	show("sign in as anybody", s.IDP+"/login")
	_, _ = fmt.Fprintf(w, "\nbots go on calling; Ctrl-C stops it all\n")
	return w.Flush()
}
