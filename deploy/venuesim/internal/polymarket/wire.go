package polymarket

// gammaMarket is a metadata object as it travels: lists are JSON text inside a
// string, money is a string with a number beside it, and what does not apply is
// missing rather than null.
type gammaMarket struct {
	ID                       string       `json:"id"`
	Question                 string       `json:"question"`
	ConditionID              string       `json:"conditionId"`
	Slug                     string       `json:"slug"`
	ResolutionSource         string       `json:"resolutionSource"`
	EndDate                  string       `json:"endDate,omitempty"`
	Category                 string       `json:"category,omitempty"`
	StartDate                string       `json:"startDate"`
	Image                    string       `json:"image"`
	Icon                     string       `json:"icon"`
	Description              string       `json:"description"`
	Outcomes                 string       `json:"outcomes"`
	OutcomePrices            string       `json:"outcomePrices,omitempty"`
	Volume                   string       `json:"volume"`
	Active                   bool         `json:"active"`
	Closed                   bool         `json:"closed"`
	MarketMakerAddress       string       `json:"marketMakerAddress"`
	CreatedAt                string       `json:"createdAt"`
	UpdatedAt                string       `json:"updatedAt"`
	ClosedTime               string       `json:"closedTime,omitempty"`
	New                      bool         `json:"new"`
	Featured                 bool         `json:"featured"`
	Archived                 bool         `json:"archived"`
	ResolvedBy               string       `json:"resolvedBy,omitempty"`
	Restricted               bool         `json:"restricted"`
	GroupItemTitle           string       `json:"groupItemTitle"`
	GroupItemThreshold       string       `json:"groupItemThreshold"`
	QuestionID               string       `json:"questionID"`
	UmaEndDate               string       `json:"umaEndDate,omitempty"`
	EnableOrderBook          bool         `json:"enableOrderBook"`
	OrderPriceMinTickSize    float64      `json:"orderPriceMinTickSize"`
	OrderMinSize             int          `json:"orderMinSize"`
	UmaResolutionStatus      string       `json:"umaResolutionStatus,omitempty"`
	VolumeNum                float64      `json:"volumeNum"`
	Liquidity                string       `json:"liquidity,omitempty"`
	LiquidityNum             *float64     `json:"liquidityNum,omitempty"`
	EndDateIso               string       `json:"endDateIso,omitempty"`
	StartDateIso             string       `json:"startDateIso"`
	HasReviewedDates         bool         `json:"hasReviewedDates"`
	Volume24hr               float64      `json:"volume24hr"`
	Volume1wk                float64      `json:"volume1wk"`
	Volume1mo                float64      `json:"volume1mo"`
	Volume1yr                float64      `json:"volume1yr"`
	GameStartTime            string       `json:"gameStartTime,omitempty"`
	ClobTokenIDs             string       `json:"clobTokenIds,omitempty"`
	UmaBond                  string       `json:"umaBond"`
	UmaReward                string       `json:"umaReward"`
	VolumeClob               float64      `json:"volumeClob"`
	LiquidityClob            *float64     `json:"liquidityClob,omitempty"`
	CustomLiveness           int          `json:"customLiveness"`
	AcceptingOrders          bool         `json:"acceptingOrders"`
	NegRisk                  bool         `json:"negRisk"`
	NegRiskMarketID          string       `json:"negRiskMarketID,omitempty"`
	NegRiskRequestID         string       `json:"negRiskRequestID"`
	Ready                    bool         `json:"ready"`
	Funded                   bool         `json:"funded"`
	AcceptingOrdersTimestamp string       `json:"acceptingOrdersTimestamp"`
	Cyom                     bool         `json:"cyom"`
	Competitive              float64      `json:"competitive"`
	Approved                 bool         `json:"approved"`
	RewardsMinSize           int          `json:"rewardsMinSize"`
	RewardsMaxSpread         float64      `json:"rewardsMaxSpread"`
	Spread                   float64      `json:"spread"`
	OneDayPriceChange        float64      `json:"oneDayPriceChange"`
	LastTradePrice           float64      `json:"lastTradePrice"`
	BestBid                  *float64     `json:"bestBid,omitempty"`
	BestAsk                  *float64     `json:"bestAsk,omitempty"`
	AutomaticallyActive      bool         `json:"automaticallyActive"`
	ClearBookOnStart         bool         `json:"clearBookOnStart"`
	ManualActivation         bool         `json:"manualActivation"`
	NegRiskOther             bool         `json:"negRiskOther"`
	SportsMarketType         string       `json:"sportsMarketType,omitempty"`
	UmaResolutionStatuses    string       `json:"umaResolutionStatuses"`
	PendingDeployment        bool         `json:"pendingDeployment"`
	Deploying                bool         `json:"deploying"`
	RfqEnabled               bool         `json:"rfqEnabled"`
	HoldingRewardsEnabled    bool         `json:"holdingRewardsEnabled"`
	FeesEnabled              bool         `json:"feesEnabled"`
	RequiresTranslation      bool         `json:"requiresTranslation"`
	FeeType                  *string      `json:"feeType"`
	Events                   []gammaEvent `json:"events,omitempty"`
	Tags                     *[]gammaTag  `json:"tags,omitempty"`
}

type gammaTag struct {
	ID                  string `json:"id"`
	Label               string `json:"label"`
	Slug                string `json:"slug"`
	RequiresTranslation bool   `json:"requiresTranslation"`
}

type gammaEvent struct {
	ID                string      `json:"id"`
	Ticker            string      `json:"ticker"`
	Slug              string      `json:"slug"`
	Title             string      `json:"title"`
	Description       string      `json:"description"`
	StartDate         string      `json:"startDate"`
	CreationDate      string      `json:"creationDate"`
	EndDate           string      `json:"endDate,omitempty"`
	Active            bool        `json:"active"`
	Closed            bool        `json:"closed"`
	Archived          bool        `json:"archived"`
	New               bool        `json:"new"`
	Featured          bool        `json:"featured"`
	Restricted        bool        `json:"restricted"`
	Liquidity         float64     `json:"liquidity"`
	Volume            float64     `json:"volume"`
	OpenInterest      float64     `json:"openInterest"`
	CreatedAt         string      `json:"createdAt"`
	UpdatedAt         string      `json:"updatedAt"`
	Competitive       float64     `json:"competitive"`
	Volume24hr        float64     `json:"volume24hr"`
	EnableOrderBook   bool        `json:"enableOrderBook"`
	NegRisk           bool        `json:"negRisk"`
	NegRiskMarketID   string      `json:"negRiskMarketID,omitempty"`
	CommentCount      int         `json:"commentCount"`
	Cyom              bool        `json:"cyom"`
	ShowAllOutcomes   bool        `json:"showAllOutcomes"`
	EnableNegRisk     bool        `json:"enableNegRisk"`
	NegRiskAugmented  bool        `json:"negRiskAugmented"`
	PendingDeployment bool        `json:"pendingDeployment"`
	Deploying         bool        `json:"deploying"`
	Markets           []any       `json:"markets,omitempty"`
	Tags              *[]gammaTag `json:"tags,omitempty"`
}

// clobMarket is the order-book service's own record of a market.
type clobMarket struct {
	EnableOrderBook         bool        `json:"enable_order_book"`
	Active                  bool        `json:"active"`
	Closed                  bool        `json:"closed"`
	Archived                bool        `json:"archived"`
	AcceptingOrders         bool        `json:"accepting_orders"`
	AcceptingOrderTimestamp string      `json:"accepting_order_timestamp"`
	MinimumOrderSize        float64     `json:"minimum_order_size"`
	MinimumTickSize         float64     `json:"minimum_tick_size"`
	ConditionID             string      `json:"condition_id"`
	QuestionID              string      `json:"question_id"`
	Question                string      `json:"question"`
	Description             string      `json:"description"`
	MarketSlug              string      `json:"market_slug"`
	EndDateIso              *string     `json:"end_date_iso"`
	GameStartTime           *string     `json:"game_start_time"`
	SecondsDelay            int         `json:"seconds_delay"`
	Fpmm                    string      `json:"fpmm"`
	MakerBaseFee            float64     `json:"maker_base_fee"`
	TakerBaseFee            float64     `json:"taker_base_fee"`
	NotificationsEnabled    bool        `json:"notifications_enabled"`
	NegRisk                 bool        `json:"neg_risk"`
	NegRiskMarketID         string      `json:"neg_risk_market_id"`
	NegRiskRequestID        string      `json:"neg_risk_request_id"`
	Icon                    string      `json:"icon"`
	Image                   string      `json:"image"`
	Rewards                 clobRewards `json:"rewards"`
	Is5050Outcome           bool        `json:"is_50_50_outcome"`
	Tokens                  []clobToken `json:"tokens"`
	Tags                    []string    `json:"tags"`
}

type clobRewards struct {
	Rates     *string `json:"rates"`
	MinSize   float64 `json:"min_size"`
	MaxSpread float64 `json:"max_spread"`
}

type clobToken struct {
	TokenID string  `json:"token_id"`
	Outcome string  `json:"outcome"`
	Price   float64 `json:"price"`
	Winner  bool    `json:"winner"`
}

type clobBook struct {
	Market         string      `json:"market"`
	AssetID        string      `json:"asset_id"`
	Timestamp      string      `json:"timestamp"`
	Hash           string      `json:"hash"`
	Bids           []clobLevel `json:"bids"`
	Asks           []clobLevel `json:"asks"`
	MinOrderSize   string      `json:"min_order_size"`
	TickSize       string      `json:"tick_size"`
	NegRisk        bool        `json:"neg_risk"`
	LastTradePrice string      `json:"last_trade_price"`
}

type clobLevel struct {
	Price string `json:"price"`
	Size  string `json:"size"`
}
