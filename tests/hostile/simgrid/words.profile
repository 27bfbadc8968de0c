# noon
zero one
