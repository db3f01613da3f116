package polymarket

// bookEvent is the whole book of a token on the market channel.
type bookEvent struct {
	Type           string      `json:"event_type"`
	AssetID        string      `json:"asset_id"`
	Market         string      `json:"market"`
	Bids           []clobLevel `json:"bids"`
	Asks           []clobLevel `json:"asks"`
	Timestamp      string      `json:"timestamp"`
	Hash           string      `json:"hash"`
	TickSize       string      `json:"tick_size"`
	LastTradePrice string      `json:"last_trade_price"`
}

// changeEvent is what has changed in the books of one market.
type changeEvent struct {
	Type      string        `json:"event_type"`
	Market    string        `json:"market"`
	Changes   []levelChange `json:"price_changes"`
	Timestamp string        `json:"timestamp"`
}

type levelChange struct {
	AssetID string `json:"asset_id"`
	Price   string `json:"price"`
	Size    string `json:"size"`
	Side    string `json:"side"`
	Hash    string `json:"hash"`
	BestBid string `json:"best_bid"`
	BestAsk string `json:"best_ask"`
}

type tradeEvent struct {
	Type       string `json:"event_type"`
	AssetID    string `json:"asset_id"`
	Market     string `json:"market"`
	FeeRateBps string `json:"fee_rate_bps"`
	Price      string `json:"price"`
	Side       string `json:"side"`
	Size       string `json:"size"`
	Timestamp  string `json:"timestamp"`
}

// topEvent and resolvedEvent come only to those who ask for more.
type topEvent struct {
	Type      string `json:"event_type"`
	Market    string `json:"market"`
	AssetID   string `json:"asset_id"`
	BestBid   string `json:"best_bid"`
	BestAsk   string `json:"best_ask"`
	Spread    string `json:"spread"`
	Timestamp string `json:"timestamp"`
}

type resolvedEvent struct {
	Type      string   `json:"event_type"`
	ID        string   `json:"id"`
	Market    string   `json:"market"`
	Assets    []string `json:"assets_ids"`
	Winner    string   `json:"winning_asset_id"`
	Outcome   string   `json:"winning_outcome"`
	Timestamp string   `json:"timestamp"`
	Tags      []string `json:"tags"`
}
