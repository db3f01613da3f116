DELETE FROM webhook_deliveries WHERE at < $1
