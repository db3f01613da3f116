package rows

// stationsPath is where partner stations are registered, at the ledger's own host.
const stationsPath = "/api/v1/stations"
