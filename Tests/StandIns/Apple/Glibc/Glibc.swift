// Nearly empty: FoundationEssentials was built on it, and nothing of it is to be seen by what imports `Foundation`.
import SwiftGlibc
