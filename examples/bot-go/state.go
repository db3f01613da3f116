package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Values of call.Status.
const (
	filing  = "filing"  // the request may have been sent; its result is unknown
	stored  = "filed"   // the ledger has the call
	refused = "refused" // the service refused the call, or the bot skips the market
)

// call is a decision of the bot on one market.
type call struct {
	Side   client.Side `json:"side"`
	Price  int         `json:"price"` // bps of the side
	Key    string      `json:"key"`   // idempotency key of the request
	Status string      `json:"status"`
	ID     string      `json:"id,omitempty"`
	Reason string      `json:"reason,omitempty"`
}

// draft returns the request that files the call.
func (c *call) draft(market string) client.SignalDraft {
	return client.SignalDraft{MarketID: market, Direction: c.Side, PriceAtPrediction: c.Price}
}

// store is the state file: the decisions by market.
type store struct {
	path  string
	Calls map[string]*call `json:"calls"`
}

// openStore reads the state file. A missing file is an empty state.
func openStore(path string) (store, error) {
	s := store{path: path, Calls: map[string]*call{}}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(raw, &s)
}

// set changes the decision on a market and replaces the file. After a crash the file has the old or the new content.
func (s store) set(market string, c *call) error {
	if s.Calls[market] = c; c == nil {
		delete(s.Calls, market)
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.Create(s.path + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(s.path+".new", s.path)
}
