package limitless

import "encoding/json"

// market is a market record or, with markets inside, a group.
type market struct {
	ID                  int64         `json:"id"`
	Slug                string        `json:"slug"`
	Title               string        `json:"title"`
	ProxyTitle          *string       `json:"proxyTitle"`
	Description         string        `json:"description"`
	CollateralToken     collateral    `json:"collateralToken"`
	ExpirationDate      string        `json:"expirationDate,omitempty"`
	ExpirationTimestamp *int64        `json:"expirationTimestamp"`
	Expired             bool          `json:"expired"`
	CreatedAt           string        `json:"createdAt"`
	UpdatedAt           string        `json:"updatedAt"`
	Categories          []string      `json:"categories"`
	Status              string        `json:"status"`
	Hidden              bool          `json:"hidden"`
	Creator             creator       `json:"creator"`
	Tags                []string      `json:"tags"`
	Volume              string        `json:"volume"`
	VolumeFormatted     string        `json:"volumeFormatted"`
	TradeType           string        `json:"tradeType"`
	MarketType          string        `json:"marketType"`
	PriorityIndex       int           `json:"priorityIndex"`
	WinningOutcomeIndex maybe[int]    `json:"winningOutcomeIndex,omitzero"`
	Metadata            metadata      `json:"metadata"`
	ImageURL            *string       `json:"imageUrl"`
	Logo                *string       `json:"logo"`
	AutomationType      string        `json:"automationType"`
	Properties          []property    `json:"properties"`
	Address             string        `json:"address,omitempty"`
	ConditionID         string        `json:"conditionId,omitempty"`
	NegRiskRequestID    maybe[string] `json:"negRiskRequestId,omitzero"`
	Tokens              *tokens       `json:"tokens,omitempty"`
	Prices              []float64     `json:"prices,omitempty"`
	TradePrices         *tradePrices  `json:"tradePrices,omitempty"`
	PositionIDs         []string      `json:"positionIds,omitempty"`
	IsRewardable        *bool         `json:"isRewardable,omitempty"`
	Settings            *settings     `json:"settings,omitempty"`
	Venue               *exchange     `json:"venue,omitempty"`
	OpenInterest        string        `json:"openInterest,omitempty"`
	OpenInterestText    string        `json:"openInterestFormatted,omitempty"`
	Liquidity           string        `json:"liquidity,omitempty"`
	LiquidityFormatted  string        `json:"liquidityFormatted,omitempty"`
	PayoutNumerators    []string      `json:"payoutNumerators,omitempty"`
	ResolutionTxHash    string        `json:"resolutionTxHash,omitempty"`
	OrderInGroup        *int          `json:"orderInGroup,omitempty"`
	NegRiskMarketID     string        `json:"negRiskMarketId,omitempty"`
	OutcomeTokens       []string      `json:"outcomeTokens,omitempty"`
	OgImageURI          *string       `json:"ogImageURI,omitempty"`
	Markets             []any         `json:"markets,omitempty"`
	DailyReward         string        `json:"dailyReward,omitempty"`
}

// maybe is a member that may be missing, null or a value.
type maybe[T any] struct {
	there bool
	value *T
}

// IsZero tells a missing one.
func (m maybe[T]) IsZero() bool { return !m.there }

// MarshalJSON writes the value or null.
func (m maybe[T]) MarshalJSON() ([]byte, error) { return json.Marshal(m.value) }

type collateral struct {
	Address  string `json:"address"`
	Decimals int    `json:"decimals"`
	Symbol   string `json:"symbol"`
}

type creator struct {
	Name     string  `json:"name"`
	ImageURI string  `json:"imageURI"`
	Link     *string `json:"link"`
}

type metadata struct {
	Fee              bool `json:"fee"`
	IsBannered       bool `json:"isBannered"`
	IsPolyArbitrage  bool `json:"isPolyArbitrage"`
	ShouldMarketMake bool `json:"shouldMarketMake"`
}

type property struct {
	Key   string `json:"propertyKeySlug"`
	Value string `json:"value"`
}

type tokens struct {
	Yes string `json:"yes"`
	No  string `json:"no"`
}

type pair [2]float64

type quotes struct {
	Market pair `json:"market"`
	Limit  pair `json:"limit"`
}

type tradePrices struct {
	Buy  quotes `json:"buy"`
	Sell quotes `json:"sell"`
}

type settings struct {
	MinSize      string  `json:"minSize"`
	MaxSpread    float64 `json:"maxSpread"`
	DailyReward  string  `json:"dailyReward"`
	RewardsEpoch string  `json:"rewardsEpoch"`
	C            string  `json:"c"`
	TakerDelayMs int     `json:"takerDelayMs"`
}

type exchange struct {
	Exchange string  `json:"exchange"`
	Adapter  *string `json:"adapter"`
}

type level struct {
	Price float64 `json:"price"`
	Size  int64   `json:"size"`
	Side  string  `json:"side"`
}

type orderBook struct {
	Bids             []level `json:"bids"`
	Asks             []level `json:"asks"`
	TokenID          string  `json:"tokenId"`
	LastTradePrice   float64 `json:"lastTradePrice"`
	AdjustedMidpoint float64 `json:"adjustedMidpoint"`
	Midpoint         float64 `json:"midpoint"`
	MaxSpread        string  `json:"maxSpread"`
	MinSize          string  `json:"minSize"`
}
