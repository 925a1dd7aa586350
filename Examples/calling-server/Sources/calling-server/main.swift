import Forecasts

try await Server(Forecasts()).run(port: 8080) { print("http://127.0.0.1:\($0)/Vienna") }
