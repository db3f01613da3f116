package rows

// appReturns is where the app takes people back.
const appReturns = "https://app.example/cb"
