import WaylayCore
