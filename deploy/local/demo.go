package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/signalcast/signalcast/deploy/local/internal/history"
	"github.com/signalcast/signalcast/pkg/dbtime"
)

// demoCmd is the command demo. Like the command up, it starts a stack. It adds a generated history of calls, and bots that file
// calls until Ctrl-C.
type demoCmd struct {
	upCmd     `embed:""`
	Days      int    `default:"90" help:"Length of the history; at least 20."`
	Markets   int    `default:"600" help:"Number of markets in the history."`
	Operators int    `default:"60" help:"Number of operators in the history; at least 10."`
	Seed      uint64 `default:"246" help:"Seed of the history; the same seed generates the same history."`
}

// historyFile is a marker file in the state directory. It exists if the history has been stored in the ledger.
const historyFile = "history"

// Run starts the stack with the history, and then the bots.
func (c *demoCmd) Run(ctx context.Context) error {
	if c.Days < 20 || c.Days > 3650 || c.Markets < 1 || c.Markets > 20_000 || c.Operators < history.MinOperators || c.Operators > 5000 {
		return fmt.Errorf("--days must be 20 to 3650, --markets 1 to 20000, --operators %d to 5000", history.MinOperators)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.prepare = c.seedHistory
	ended := make(chan error, 1)
	go func() {
		err := c.runBots(ctx, os.Stdout)
		if ctx.Err() != nil {
			err = nil // stopped by the user
		}
		if err != nil {
			say("the bots stopped; the stack continues: %v", err)
		}
		ended <- err
	}()
	err := c.upCmd.Run(ctx)
	cancel()
	return errors.Join(err, <-ended)
}

// seedHistory stores the generated history in the ledger before the services start. It does nothing if historyFile exists.
func (c *demoCmd) seedHistory(ctx context.Context, l *launch, in inputs, bin, admin string) error {
	mark := l.state.path(historyFile)
	if fileExists(mark) {
		return nil
	}
	end := time.Now().UTC().Add(-time.Hour).Truncate(time.Minute)
	var input bytes.Buffer
	encoder := json.NewEncoder(&input)
	for _, step := range history.Generate(history.Settings{
		Seed: c.Seed, Start: end.AddDate(0, 0, -c.Days), End: end, Markets: c.Markets, Operators: c.Operators, Issuer: in.url("idp"),
	}) {
		if err := encoder.Encode(step); err != nil {
			return err
		}
	}
	say("storing a history of %d days", c.Days)
	began := time.Now()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "api"), "seed")
	cmd.Env = environment(map[string]string{"ENV": "development", "MIGRATE_DATABASE_URL": admin, "MASK_SECRET": l.secrets.Mask})
	cmd.Stdin = &input
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("api seed: %w\n%s\nan incomplete history cannot be continued; start again with --fresh", err, bytes.TrimSpace(out))
	}
	say("%s in %.1f s", strings.TrimSpace(string(out)), time.Since(began).Seconds())
	return os.WriteFile(mark, []byte(end.Format(time.RFC3339)+"\n"), 0o600)
}

// runBots waits for the stack, prints the addresses and runs the bots until ctx ends.
func (c *demoCmd) runBots(ctx context.Context, out io.Writer) error {
	s, err := c.waitForStack(ctx)
	if err != nil {
		return err
	}
	crew, err := openCrew(ctx, s)
	if err != nil {
		return err
	}
	defer crew.close()
	if err := crew.meet(ctx); err != nil {
		return err
	}
	call, err := crew.begin(ctx)
	if err != nil {
		return err
	}
	if err := crew.movePrices(ctx); err != nil {
		return err
	}
	if crew.onAir = call.market; call.market != "" {
		if err := crew.broadcast(ctx, call.market); err != nil {
			return err
		}
	}
	best, err := bestDecided(ctx, crew.bots[0])
	if err != nil {
		return err
	}
	if err := printAddresses(out, crew, best); err != nil {
		return err
	}
	return crew.run(ctx)
}

// waitForStack waits until this process has written stack.json, and returns the content of that file.
func (c *demoCmd) waitForStack(ctx context.Context) (stack, error) {
	for {
		s, err := readStack(c.Dir)
		if err == nil && s.PIDs["up"] == os.Getpid() {
			return s, dbtime.Sleep(ctx, afterReady)
		}
		if err := dbtime.Sleep(ctx, 200*time.Millisecond); err != nil {
			return s, err
		}
	}
}

// afterReady is a delay of the bots, so that the command up prints "ready" before the bots print anything.
const afterReady = 300 * time.Millisecond

// decidedCall is a scored call.
type decidedCall struct {
	SignalID string
	Score    int
}

// bestDecided returns the id of the call with the highest score among the newest 200 results in the feed. The history has at least one
// result.
func bestDecided(ctx context.Context, b *bot) (string, error) {
	var feed struct{ Items []struct{ Data decidedCall } }
	if err := b.ask(ctx, http.MethodGet, b.stack.API+"/api/v1/feed?types=signal.resolved&limit=200", "", &feed); err != nil {
		return "", err
	}
	var best decidedCall
	for _, item := range feed.Items {
		if best.SignalID == "" || item.Data.Score > best.Score {
			best = item.Data
		}
	}
	return best.SignalID, nil
}

// printAddresses prints the URLs of five pages that show the demo. best is the id of a scored call.
func printAddresses(out io.Writer, crew *crew, best string) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintf(w, "\npages to open:\n\n")
	for _, page := range [][2]string{
		{"home", "/"},
		{"a market", "/m/" + crew.onAir},
		{"a receipt", "/receipts/" + best},
		{"a forecaster", "/u/" + crew.leader},
		{"a live broadcast", "/live/" + crew.bots[0].handle},
	} {
		_, _ = fmt.Fprintf(w, "  %s\t%s%s\n", page[0], crew.stack.Hub, page[1])
	}
	_, _ = fmt.Fprintf(w, "\nSign in as %s to see a home page with calls, follows and notifications.\n", personas[3].name)
	_, _ = fmt.Fprintf(w, "the bots file calls; Ctrl-C stops everything\n")
	return w.Flush()
}
