"""Python types as JSON: the schema that a model is held to, and the values that its JSON is read into."""
