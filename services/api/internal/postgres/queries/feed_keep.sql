SELECT keep_feed()
