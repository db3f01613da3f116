package manifold

// short is a market record as lists give it.
type short struct {
	ID                    string             `json:"id"`
	CreatorID             string             `json:"creatorId"`
	CreatorUsername       string             `json:"creatorUsername"`
	CreatorName           string             `json:"creatorName"`
	CreatedTime           int64              `json:"createdTime"`
	CreatorAvatarURL      string             `json:"creatorAvatarUrl"`
	CloseTime             *int64             `json:"closeTime,omitempty"`
	Question              string             `json:"question"`
	Slug                  string             `json:"slug"`
	URL                   string             `json:"url"`
	Pool                  map[string]float64 `json:"pool,omitempty"`
	Probability           *float64           `json:"probability,omitempty"`
	P                     *float64           `json:"p,omitempty"`
	TotalLiquidity        *float64           `json:"totalLiquidity,omitempty"`
	OutcomeType           string             `json:"outcomeType"`
	Mechanism             string             `json:"mechanism"`
	Volume                float64            `json:"volume"`
	Volume24Hours         float64            `json:"volume24Hours"`
	IsResolved            bool               `json:"isResolved"`
	Resolution            string             `json:"resolution,omitempty"`
	ResolutionTime        *int64             `json:"resolutionTime,omitempty"`
	ResolutionProbability *float64           `json:"resolutionProbability,omitempty"`
	UniqueBettorCount     int                `json:"uniqueBettorCount"`
	LastUpdatedTime       int64              `json:"lastUpdatedTime"`
	LastBetTime           int64              `json:"lastBetTime"`
	LastCommentTime       int64              `json:"lastCommentTime"`
	Token                 string             `json:"token"`
}

// full is a record with what only a single read tells.
type full struct {
	short
	Description     richText `json:"description"`
	TextDescription string   `json:"textDescription"`
	GroupSlugs      []string `json:"groupSlugs"`
	Options         []option `json:"options,omitempty"`
}

type richText struct {
	Type    string     `json:"type"`
	Content []richText `json:"content,omitempty"`
	Text    string     `json:"text,omitempty"`
}

type option struct {
	Text  string `json:"text"`
	Votes int    `json:"votes"`
}

type bet struct {
	ID           string   `json:"id"`
	UserID       string   `json:"userId"`
	ContractID   string   `json:"contractId"`
	CreatedTime  int64    `json:"createdTime"`
	UpdatedTime  int64    `json:"updatedTime"`
	Amount       float64  `json:"amount"`
	LoanAmount   float64  `json:"loanAmount"`
	Outcome      string   `json:"outcome"`
	Shares       float64  `json:"shares"`
	ProbBefore   float64  `json:"probBefore"`
	ProbAfter    float64  `json:"probAfter"`
	Fees         fees     `json:"fees"`
	IsAPI        bool     `json:"isApi"`
	IsRedemption bool     `json:"isRedemption"`
	IsFilled     bool     `json:"isFilled"`
	IsCancelled  bool     `json:"isCancelled"`
	OrderAmount  float64  `json:"orderAmount"`
	Fills        []fill   `json:"fills"`
	Visibility   string   `json:"visibility"`
	LimitProb    *float64 `json:"limitProb,omitempty"`
}

type fees struct {
	CreatorFee   float64 `json:"creatorFee"`
	PlatformFee  float64 `json:"platformFee"`
	LiquidityFee float64 `json:"liquidityFee"`
}

type fill struct {
	Amount       float64 `json:"amount"`
	Shares       float64 `json:"shares"`
	Timestamp    int64   `json:"timestamp"`
	MatchedBetID *string `json:"matchedBetId"`
}
