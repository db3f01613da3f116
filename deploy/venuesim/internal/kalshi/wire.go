package kalshi

// market is a market record: prices are dollars in a string, counts are
// contracts in a string, and a result that is not there yet is missing.
type market struct {
	Ticker                 string        `json:"ticker"`
	EventTicker            string        `json:"event_ticker"`
	MarketType             string        `json:"market_type"`
	Title                  string        `json:"title"`
	Subtitle               string        `json:"subtitle"`
	YesSubTitle            string        `json:"yes_sub_title"`
	NoSubTitle             string        `json:"no_sub_title"`
	CreatedTime            string        `json:"created_time"`
	UpdatedTime            string        `json:"updated_time"`
	OpenTime               string        `json:"open_time"`
	CloseTime              string        `json:"close_time"`
	ExpectedExpirationTime *string       `json:"expected_expiration_time"`
	ExpirationTime         string        `json:"expiration_time"`
	LatestExpirationTime   string        `json:"latest_expiration_time"`
	SettlementTimerSeconds int           `json:"settlement_timer_seconds"`
	Status                 string        `json:"status"`
	ResponsePriceUnits     string        `json:"response_price_units"`
	NotionalValueDollars   string        `json:"notional_value_dollars"`
	YesBidDollars          string        `json:"yes_bid_dollars"`
	YesBidSizeFp           string        `json:"yes_bid_size_fp"`
	YesAskDollars          string        `json:"yes_ask_dollars"`
	YesAskSizeFp           string        `json:"yes_ask_size_fp"`
	NoBidDollars           string        `json:"no_bid_dollars"`
	NoAskDollars           string        `json:"no_ask_dollars"`
	LastPriceDollars       string        `json:"last_price_dollars"`
	PreviousYesBidDollars  string        `json:"previous_yes_bid_dollars"`
	PreviousYesAskDollars  string        `json:"previous_yes_ask_dollars"`
	PreviousPriceDollars   string        `json:"previous_price_dollars"`
	VolumeFp               string        `json:"volume_fp"`
	Volume24hFp            string        `json:"volume_24h_fp"`
	LiquidityDollars       string        `json:"liquidity_dollars"`
	OpenInterestFp         string        `json:"open_interest_fp"`
	Result                 string        `json:"result"`
	CanCloseEarly          bool          `json:"can_close_early"`
	FractionalTrading      bool          `json:"fractional_trading_enabled"`
	ExpirationValue        string        `json:"expiration_value"`
	RulesPrimary           string        `json:"rules_primary"`
	RulesSecondary         string        `json:"rules_secondary"`
	PriceLevelStructure    string        `json:"price_level_structure"`
	PriceRanges            []priceRange  `json:"price_ranges"`
	StrikeType             string        `json:"strike_type"`
	FloorStrike            *float64      `json:"floor_strike,omitempty"`
	CustomStrike           *customStrike `json:"custom_strike,omitempty"`
	TickSize               int           `json:"tick_size"`
	OccurrenceDatetime     *string       `json:"occurrence_datetime"`
	SettlementValueDollars *nullable     `json:"settlement_value_dollars,omitempty"`
	SettlementTs           string        `json:"settlement_ts,omitempty"`
	MveCollectionTicker    string        `json:"mve_collection_ticker,omitempty"`
	MveSelectedLegs        []combinedLeg `json:"mve_selected_legs,omitempty"`
	IsProvisional          *bool         `json:"is_provisional,omitempty"`
}

// nullable is a text that may be null where it is not missing.
type nullable struct{ text string }

// MarshalJSON writes an empty text as null.
func (n nullable) MarshalJSON() ([]byte, error) {
	if n.text == "" {
		return []byte("null"), nil
	}
	return []byte(`"` + n.text + `"`), nil
}

type priceRange struct {
	Start string `json:"start"`
	End   string `json:"end"`
	Step  string `json:"step"`
}

type customStrike struct {
	Person string `json:"person"`
}

type combinedLeg struct {
	EventTicker  string `json:"event_ticker"`
	MarketTicker string `json:"market_ticker"`
	Side         string `json:"side"`
}

type event struct {
	EventTicker          string   `json:"event_ticker"`
	SeriesTicker         string   `json:"series_ticker"`
	SubTitle             string   `json:"sub_title"`
	Title                string   `json:"title"`
	CollateralReturnType string   `json:"collateral_return_type"`
	MutuallyExclusive    bool     `json:"mutually_exclusive"`
	Category             string   `json:"category"`
	AvailableOnBrokers   bool     `json:"available_on_brokers"`
	ProductMetadata      struct{} `json:"product_metadata"`
	StrikePeriod         string   `json:"strike_period"`
	LastUpdatedTs        string   `json:"last_updated_ts"`
	Markets              []any    `json:"markets,omitempty"`
	StrikeDate           string   `json:"strike_date,omitempty"`
}

type seriesRecord struct {
	Ticker                 string    `json:"ticker"`
	Frequency              string    `json:"frequency"`
	Title                  string    `json:"title"`
	Category               string    `json:"category"`
	Tags                   []string  `json:"tags"`
	SettlementSources      []source  `json:"settlement_sources"`
	ContractURL            string    `json:"contract_url"`
	ContractTermsURL       string    `json:"contract_terms_url"`
	FeeType                string    `json:"fee_type"`
	FeeMultiplier          int       `json:"fee_multiplier"`
	AdditionalProhibitions []string  `json:"additional_prohibitions"`
	ProductMetadata        *struct{} `json:"product_metadata"`
	VolumeFp               string    `json:"volume_fp"`
	LastUpdatedTs          string    `json:"last_updated_ts"`
}

type source struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}
