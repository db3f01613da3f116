package site

// Paths of pages. A path that ends in a slash is followed by one more segment.
const (
	AppsPath                 = "/settings/apps"
	AuthorizePath            = "/protocol/authorize"
	DevPath                  = "/dev"
	FollowingPath            = "/following"
	LivePath                 = "/live/"
	MarketPath               = "/m/"
	MarketsPath              = "/markets"
	NotificationsPath        = "/notifications"
	NotificationSettingsPath = "/settings/notifications"
	OwnPersonPath            = "/u/me" // redirects to the page of the visitor
	PersonPath               = "/u/"
	ProfilePath              = "/settings/profile"
	ReceiptPath              = "/receipts/"
	ReportPath               = "/report"
	SettingsPath             = "/settings"
	SignInPath               = "/sign-in"
	SignOutPath              = "/sign-out"
	StudioPath               = "/studio"
	ThemePath                = "/settings/theme"
	WelcomePath              = "/welcome"
)
